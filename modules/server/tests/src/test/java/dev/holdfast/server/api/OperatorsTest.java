package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.operate.LocalOperator;
import dev.holdfast.queue.Admin;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator gets the same answer and the same error on the database and through a server. */
class OperatorsTest extends ServerTest {
  private static final JobEdit NOT_JSON = JobEdit.NOTHING.payload(new Json("{"));

  private final Operator direct;
  private final Operator remote;

  OperatorsTest(TestDatabase db) {
    super(db);
    direct = new LocalOperator(holdfast.store(), Timings.DEFAULT, "test", () -> {});
    remote = new HttpOperator(server.url(), null);
  }

  @AfterEach
  void closeOperators() {
    direct.close();
    remote.close();
  }

  /** The outcome of a call: a value or an exception. */
  private record Outcome(@Nullable Object value, @Nullable String thrown) {
    static Outcome of(Operator operator, Function<Operator, ?> act) {
      try {
        return new Outcome(act.apply(operator), null);
      } catch (RefusedException refused) {
        return new Outcome(null, refused.refusal() + ": " + refused.getMessage());
      } catch (OperatorException failed) {
        return new Outcome(null, failed.reason() + ": " + failed.getMessage());
      }
    }
  }

  private Outcome both(Function<Operator, ?> act) {
    Outcome onDatabase = Outcome.of(direct, act);
    assertThat(Outcome.of(remote, act)).isEqualTo(onDatabase);
    return onDatabase;
  }

  private void bothRefuse(Function<Operator, ?> act, String message) {
    assertThat(both(act).thrown()).contains(message);
  }

  private ApiKey key(String id) {
    return holdfast.store().admin().keys().stream()
        .filter(key -> key.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private String viewer(@Nullable Duration lifetime) {
    return direct.createKey("ci", Role.VIEWER, "acme", lifetime).id();
  }

  // Without keys, the server accepts loopback; so the test creates no usable key.
  private void lockNobodyOut() {
    db.sql("UPDATE holdfast.api_key SET revoked_at = now() - interval '1 second'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"000000000000", "no-key", "revoked", "expired"})
  void a_key_that_is_not_valid_is_not_rotated(String which) {
    String id = which;
    if (which.equals("revoked")) {
      id = viewer(null);
      lockNobodyOut();
    } else if (which.equals("expired")) {
      id = viewer(Duration.ofHours(1));
      db.sql("UPDATE holdfast.api_key SET expires_at = now() - interval '1 second'");
    }
    String old = id;
    assertThat(both(operator -> operator.rotateKey(old, Duration.ZERO)).value())
        .isEqualTo(Optional.empty());
  }

  @Test
  void a_rotated_key_has_the_permissions_and_the_expiry_of_the_old_one() {
    String admin = key(Role.ADMIN, null);
    try (Operator through = new HttpOperator(server.url(), admin)) {
      for (Operator operator : List.of(direct, through)) {
        ApiKey old = key(viewer(Duration.ofHours(5)));
        Instant before = holdfast.store().queries().now();
        String id = operator.rotateKey(old.id(), Duration.ofHours(2)).orElseThrow().id();
        ApiKey fresh = key(id);
        assertThat(fresh)
            .isEqualTo(
                new ApiKey(
                    id, "ci", Role.VIEWER, "acme", fresh.createdAt(), old.expiresAt(), null));
        assertThat(key(old.id()).revokedAt())
            .isBetween(
                before.plus(Duration.ofHours(2)),
                holdfast.store().queries().now().plus(Duration.ofHours(2)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 30L * 24 * 3600 * 1000 + 1})
  void an_overlap_out_of_range_is_rejected(long millis) {
    bothRefuse(
        operator -> operator.rotateKey("000000000000", Duration.ofMillis(millis)),
        "BAD_TIMING: the overlap of two keys must be between 0 and 30 days");
  }

  @ParameterizedTest
  @CsvSource({
    "'', acme, 1000, BAD_KEY",
    "ci, not a tenant, 1000, BAD_NAME",
    "ci, acme, 0, BAD_TIMING",
    "ci, acme, 999999999999999, BAD_TIMING"
  })
  void an_invalid_key_is_rejected(String name, String tenant, long ms, String error) {
    bothRefuse(
        operator -> operator.createKey(name, Role.VIEWER, tenant, Duration.ofMillis(ms)), error);
  }

  @ParameterizedTest
  @EnumSource(JobState.class)
  void a_job_is_retried_in_the_same_states(JobState state) {
    JobId forDatabase = in(state);
    JobId forServer = in(state);
    boolean retried = direct.retry(List.of(forDatabase)).equals(Set.of(forDatabase));
    assertThat(remote.retry(List.of(forServer)).equals(Set.of(forServer))).isEqualTo(retried);
    assertThat(retried).isEqualTo(JobState.RETRYABLE.contains(state));
    assertThat(state(forServer)).isEqualTo(state(forDatabase));
  }

  /** A job that stays in this state, whatever the server does in the background. */
  private JobId in(JobState state) {
    JobId job = enqueued();
    switch (state) {
      case PENDING -> {}
      case WAITING -> job = holdfast.enqueue(Job.of("echo").queue(QUEUE).dependsOn(job)).id();
      case RUNNING -> holdfast.store().jobs().claim(QUEUE, 1, "w", Duration.ofMinutes(1));
      case RETRYING ->
          db.sql(
              "UPDATE holdfast.job SET state = 'RETRYING', run_at = now() + interval '1 hour'"
                  + " WHERE id = ?",
              job.value());
      case CANCELLED -> direct.cancel(job, false, "why");
      case SUCCEEDED, FAILED ->
          db.sql(
              "UPDATE holdfast.job SET state = '%s', finished_at = now() WHERE id = ?"
                  .formatted(state),
              job.value());
    }
    assertThat(state(job)).isEqualTo(state.name());
    return job;
  }

  @Test
  void an_unused_queue_can_be_paused_and_resumed() {
    for (Operator operator : List.of(direct, remote)) {
      assertThat(operator.resume("unused")).isFalse();
      operator.pause("unused");
      operator.pause("unused");
      assertThat(both(Operator::queues).value())
          .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.list(QueueStatus.class))
          .singleElement()
          .satisfies(queue -> assertThat(queue.pausedAt()).isNotNull());
      assertThat(operator.resume("unused")).isTrue();
      assertThat(operator.resume("unused")).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "a b", "a:b"})
  void a_queue_with_an_invalid_name_is_rejected(String queue) {
    for (Function<Operator, ?> act :
        Stream.<Function<Operator, ?>>of(
                operator -> done(() -> operator.pause(queue)),
                operator -> operator.resume(queue),
                operator -> done(() -> operator.limit(queue, 1)))
            .toList()) {
      bothRefuse(act, "BAD_NAME: queue '" + queue + "' must have 1 to 48 characters");
    }
  }

  private static boolean done(Runnable act) {
    act.run();
    return true;
  }

  @Test
  void unknown_jobs_have_the_same_answers() {
    JobId none = JobId.next();
    both(operator -> operator.find(none));
    both(operator -> operator.cancel(none, true, "why"));
    both(operator -> operator.retry(List.of(none)));
    both(operator -> operator.step(none, "build"));
    assertThat(
            both(operator ->
                    operator.command(none, new JobCommand(CommandAction.PAUSE, null, "ann", "why")))
                .value())
        .isEqualTo(JobCommand.Answer.NO_SUCH_JOB);
  }

  @Test
  void searches_failures_dependencies_and_filters_have_the_same_answers() {
    JobId first = holdfast.enqueue(Job.of("fetch", Map.of("customer", "c499")).queue("other")).id();
    JobId waiting = holdfast.enqueue(Job.of("load").queue("other").dependsOn(first)).id();
    JobId failed = enqueued();
    callback(
            leased(),
            "completed",
            failedBody(
                1,
                Map.of(
                    "category", "USER_CODE", "code", "X", "message", "no 7", "retryable", false)))
        .ok();
    admin().schedule(Schedule.of("nightly", "0 3 * * *", ZoneOffset.UTC, Job.of("report")));
    JobFilter search = SearchSyntax.parse("payload.customer:c499 age:<1h fetch", Instant.now());
    for (Operator operator : List.of(direct, remote)) {
      assertThat(operator.list(search)).extracting(JobStatus::id).containsExactly(first);
      assertThat(operator.failures(5).groups())
          .singleElement()
          .satisfies(group -> assertThat(group.latest()).isEqualTo(failed));
      assertThat(operator.dependencies(waiting).waitsFor())
          .singleElement()
          .satisfies(job -> assertThat(job.id()).isEqualTo(first));
      assertThat(operator.schedules().getFirst().upcoming(5)).hasSize(5);
      JobId run = operator.runSchedule("nightly").orElseThrow().id();
      assertThat(operator.runSchedule("nothing")).isEmpty();
      assertThat(operator.cancelAll(List.of(run, failed, JobId.next()), false, "enough"))
          .isEqualTo(new JobOperator.CancelledCounts(1, 0, 0, 1, 1));
    }
  }

  private Admin admin() {
    return holdfast.store().admin();
  }

  @Test
  void a_job_that_has_ended_is_not_cancelled() {
    JobId job = enqueued();
    direct.cancel(job, false, "why");
    assertThat(both(operator -> operator.cancel(job, false, "why")).value())
        .isEqualTo(
            List.of(
                new Cancellation(job, JobState.CANCELLED, Cancellation.Outcome.ALREADY_TERMINAL)));
  }

  @Test
  void edits_deletes_and_searches_by_tag_have_the_same_answers() {
    JobId run = JobId.next();
    for (Operator operator : List.of(direct, remote)) {
      JobId job = JobId.next();
      operator.enqueue(
          List.of(Job.of("send", new Json("{}")).id(job).tags("b", "a").run(run, "x")));
      assertThat(operator.list(JobFilter.ALL.tag("a").run(run).before(null)))
          .extracting(JobStatus::id)
          .contains(job);
      assertThat(operator.list(JobFilter.ALL.tag("c"))).isEmpty();
      assertThat(operator.find(job).orElseThrow().attributes().tags()).containsExactly("a", "b");
      JobEdit edit = JobEdit.NOTHING.priority(1).payload(new Json("{\"n\":1}"));
      assertThat(operator.edit(job, edit.delay(Duration.ofHours(1))))
          .hasValue(new JobEdit.Answer(job, JobState.PENDING, JobEdit.Outcome.EDITED));
      JobStatus edited = operator.find(job).orElseThrow();
      assertThat(edited.priority()).isEqualTo(1);
      assertThat(edited.runAt()).isAfter(Instant.now().plus(Duration.ofMinutes(50)));
      assertThat(edited.payload().text()).contains("1");
      JobId waiting = operator.enqueue(List.of(Job.of("next").dependsOn(job))).getFirst().id();
      assertThat(operator.delete(job))
          .hasValue(new Deletion(job, JobState.PENDING, Deletion.Outcome.AWAITED));
      assertThat(operator.delete(waiting))
          .hasValue(new Deletion(waiting, JobState.WAITING, Deletion.Outcome.DELETED));
      operator.cancel(job, false, "enough");
      assertThat(operator.edit(job, edit))
          .hasValue(new JobEdit.Answer(job, JobState.CANCELLED, JobEdit.Outcome.ALREADY_TERMINAL));
      assertThat(operator.delete(job))
          .hasValue(new Deletion(job, JobState.CANCELLED, Deletion.Outcome.DELETED));
      assertThat(operator.delete(job)).isEqualTo(Optional.empty());
      assertThat(operator.edit(job, edit)).isEqualTo(Optional.empty());
    }
    JobId other = direct.enqueue(List.of(Job.of("send"))).getFirst().id();
    assertThat(Outcome.of(remote, it -> it.edit(other, NOT_JSON)).thrown())
        .startsWith("PAYLOAD_NOT_JSON: ");
    assertThat(Outcome.of(direct, it -> it.edit(other, NOT_JSON)).thrown())
        .startsWith("PAYLOAD_NOT_JSON: ");
  }

  @Test
  void a_running_job_is_neither_edited_nor_deleted() {
    JobId job = enqueued();
    leased();
    assertThat(both(operator -> operator.edit(job, JobEdit.NOTHING.priority(1))).value())
        .isEqualTo(
            Optional.of(
                new JobEdit.Answer(job, JobState.RUNNING, JobEdit.Outcome.ALREADY_RUNNING)));
    assertThat(both(operator -> operator.delete(job)).value())
        .isEqualTo(Optional.of(new Deletion(job, JobState.RUNNING, Deletion.Outcome.RUNNING)));
  }

  @Test
  void a_command_to_an_unknown_worker_is_rejected() {
    bothRefuse(
        operator ->
            operator.command(
                new WorkerCommand.Draft(
                    "worker:none:0", null, WorkerCommand.Action.STOP, "ann", "why")),
        "NOT_FOUND: ");
  }

  @Test
  void an_id_of_another_job_is_rejected() {
    JobId job = enqueued();
    bothRefuse(operator -> operator.enqueue(List.of(Job.of("other").id(job))), "ID_TAKEN: ");
  }

  @Test
  void an_unknown_schedule_is_neither_paused_nor_resumed_nor_removed() {
    for (Function<Operator, Boolean> act :
        Stream.<Function<Operator, Boolean>>of(
                operator -> operator.pauseSchedule("none"),
                operator -> operator.resumeSchedule("none"),
                operator -> operator.removeSchedule("none"))
            .toList()) {
      assertThat(both(act).value()).isEqualTo(false);
    }
  }
}
