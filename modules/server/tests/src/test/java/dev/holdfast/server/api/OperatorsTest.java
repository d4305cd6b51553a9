package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.client.operate.DatabaseOperator;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.client.operate.JobOperator;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.client.operate.OperatorException;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
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
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.QueueAdmin;
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
  private final Operator direct;
  private final Operator remote;

  OperatorsTest(TestDatabase db) {
    super(db);
    direct = new DatabaseOperator(holdfast.queue(), Timings.DEFAULT, "test", () -> {});
    remote = new HttpOperator(server.url(), null);
  }

  @AfterEach
  void closeOperators() {
    direct.close();
    remote.close();
  }

  /** What a call gave: a value, or an exception. */
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
    return holdfast.queue().access().keys().stream()
        .filter(key -> key.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private String viewer(@Nullable Duration lifetime) {
    return direct.createKey("ci", Role.VIEWER, "acme", lifetime).id();
  }

  // Without keys, the server accepts this machine; so the test makes none that could be used.
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
  void a_rotated_key_has_the_rights_and_the_end_of_the_old_one() {
    String admin = key(Role.ADMIN, null);
    try (Operator through = new HttpOperator(server.url(), admin)) {
      for (Operator operator : List.of(direct, through)) {
        ApiKey old = key(viewer(Duration.ofHours(5)));
        Instant before = holdfast.queue().queries().now();
        String id = operator.rotateKey(old.id(), Duration.ofHours(2)).orElseThrow().id();
        ApiKey fresh = key(id);
        assertThat(fresh)
            .isEqualTo(
                new ApiKey(
                    id, "ci", Role.VIEWER, "acme", fresh.createdAt(), old.expiresAt(), null));
        assertThat(key(old.id()).revokedAt())
            .isBetween(
                before.plus(Duration.ofHours(2)),
                holdfast.queue().queries().now().plus(Duration.ofHours(2)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 30L * 24 * 3600 * 1000 + 1})
  void an_overlap_beyond_its_bounds_is_refused(long millis) {
    bothRefuse(
        operator -> operator.rotateKey("000000000000", Duration.ofMillis(millis)),
        "BAD_TIMING: the overlap of two keys must lie between 0 and 30 days");
  }

  @ParameterizedTest
  @CsvSource({
    "'', acme, 1000, BAD_KEY",
    "ci, not a tenant, 1000, BAD_NAME",
    "ci, acme, 0, BAD_TIMING",
    "ci, acme, 999999999999999, BAD_TIMING"
  })
  void a_key_that_makes_no_sense_is_refused(String name, String tenant, long ms, String error) {
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
      case RUNNING -> holdfast.queue().jobs().claim(QUEUE, 1, "w", Duration.ofMinutes(1));
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
  void a_queue_that_nobody_has_used_can_be_paused_and_resumed() {
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
  void a_queue_of_a_name_that_cannot_be_is_refused(String queue) {
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
  void jobs_that_there_are_not_are_answered_alike() {
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

  private QueueAdmin admin() {
    return holdfast.queue().admin();
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
  void a_worker_that_there_is_not_takes_no_command() {
    bothRefuse(
        operator ->
            operator.command(
                new WorkerCommand.Draft(
                    "worker:none:0", null, WorkerCommand.Action.STOP, "ann", "why")),
        "NOT_FOUND: ");
  }

  @Test
  void an_id_that_another_job_has_is_refused() {
    JobId job = enqueued();
    bothRefuse(operator -> operator.enqueue(List.of(Job.of("other").id(job))), "ID_TAKEN: ");
  }

  @Test
  void a_schedule_that_there_is_not_is_neither_paused_nor_resumed_nor_removed() {
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
