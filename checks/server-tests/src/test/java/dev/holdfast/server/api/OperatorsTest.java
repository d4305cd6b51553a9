package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.JobOperator;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.OperatorException.Reason;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.search.SearchSyntax;
import dev.holdfast.queue.Admin;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An operator gets the same answer and the same error on the database and through a server. */
class OperatorsTest extends OperatorsFixture {
  OperatorsTest(TestDatabase db) {
    super(db);
  }

  private ApiKey key(String id) {
    return holdfast.store().admin().keys().stream()
        .filter(key -> key.id().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private String viewer(@Nullable Duration lifetime) {
    return direct.keys().create("ci", Role.VIEWER, "acme", lifetime).id();
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
    assertThat(both(operator -> operator.keys().rotate(old, Duration.ZERO)).value())
        .isEqualTo(Optional.empty());
  }

  @Test
  void a_rotated_key_has_the_permissions_and_the_expiry_of_the_old_one() {
    String admin = key(Role.ADMIN, null);
    try (Operator through = new HttpOperator(server.url(), admin)) {
      for (Operator operator : List.of(direct, through)) {
        ApiKey old = key(viewer(Duration.ofHours(5)));
        Instant before = holdfast.store().queries().now();
        String id = operator.keys().rotate(old.id(), Duration.ofHours(2)).orElseThrow().id();
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
        operator -> operator.keys().rotate("000000000000", Duration.ofMillis(millis)),
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
        operator -> operator.keys().create(name, Role.VIEWER, tenant, Duration.ofMillis(ms)),
        error);
  }

  @ParameterizedTest
  @EnumSource(JobState.class)
  void a_job_is_retried_in_the_same_states(JobState state) {
    JobId forDatabase = in(state);
    JobId forServer = in(state);
    boolean retried = retried(direct, forDatabase);
    assertThat(retried(remote, forServer)).isEqualTo(retried);
    assertThat(retried).isEqualTo(JobState.RETRYABLE.contains(state));
    assertThat(state(forServer)).isEqualTo(state(forDatabase));
  }

  private static boolean retried(Operator operator, JobId job) {
    try {
      operator.jobs().retry(job);
      return true;
    } catch (OperatorException refused) {
      assertThat(refused.reason()).isEqualTo(Reason.JOB_NOT_RETRYABLE);
      return false;
    }
  }

  /** A job that stays in this state, whatever the server does in the background. */
  private JobId in(JobState state) {
    JobId job = enqueued();
    switch (state) {
      case PENDING -> {}
      case WAITING -> job = holdfast.enqueue(Job.of("echo").queue(QUEUE).dependsOn(job)).id();
      case RUNNING ->
          holdfast.store().jobs().claim(new ClaimRequest(QUEUE, 1, "w", Duration.ofMinutes(1)));
      case RETRYING ->
          db.sql(
              "UPDATE holdfast.job SET state = 'RETRYING', run_at = now() + interval '1 hour'"
                  + " WHERE id = ?",
              job.value());
      case CANCELLED -> direct.jobs().cancel(job, false, "why");
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
      assertThat(operator.queues().resume("unused")).isFalse();
      operator.queues().pause("unused", null);
      operator.queues().pause("unused", null);
      assertThat(operator.queues().list())
          .singleElement()
          .satisfies(queue -> assertThat(queue.status().pausedAt()).isNotNull());
      assertThat(operator.queues().resume("unused")).isTrue();
      assertThat(operator.queues().resume("unused")).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "a b", "a:b"})
  void a_queue_with_an_invalid_name_is_rejected(String queue) {
    for (Function<Operator, ?> act :
        Stream.<Function<Operator, ?>>of(
                operator -> operator.queues().pause(queue, null),
                operator -> operator.queues().resume(queue),
                operator -> operator.queues().limit(queue, 1),
                operator -> operator.queues().rate(queue, null))
            .toList()) {
      bothRefuse(act, "BAD_NAME: queue '" + queue + "' must have 1 to 48 characters");
    }
  }

  @Test
  void operators_who_set_one_limit_each_do_not_undo_each_other() {
    RateLimit rate = new RateLimit(7, Duration.ofSeconds(2));
    for (Operator one : List.of(direct, remote)) {
      for (Operator other : List.of(direct, remote)) {
        one.queues().limit("both", 3);
        assertThat(other.queues().rate("both", rate).status())
            .returns(3, QueueStatus::maxRunning)
            .returns(rate, QueueStatus::rateLimit);
        assertThat(one.queues().limit("both", null).status())
            .returns(null, QueueStatus::maxRunning)
            .returns(rate, QueueStatus::rateLimit);
        assertThat(other.queues().rate("both", null).status().rateLimit()).isNull();
      }
    }
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
      assertThat(operator.jobs().list(search)).extracting(JobStatus::id).containsExactly(first);
      assertThat(operator.jobs().failures(5).groups())
          .singleElement()
          .satisfies(group -> assertThat(group.latest()).isEqualTo(failed));
      assertThat(
              operator
                  .jobs()
                  .show(waiting, JobDetail.Part.DEPENDENCIES)
                  .orElseThrow()
                  .dependencies()
                  .waitsFor())
          .singleElement()
          .satisfies(job -> assertThat(job.id()).isEqualTo(first));
      assertThat(operator.schedules().list().getFirst().status().upcoming()).hasSize(5);
      JobId run = operator.schedules().run("nightly").id();
      assertThat(
              operator
                  .jobs()
                  .cancel(new Selection.Ids(List.of(run, failed, JobId.next())), false, "enough"))
          .isEqualTo(new JobOperator.Cancelled(1, 0, 0, 1, 1, null));
    }
    bothRefuse(operator -> operator.schedules().run("nothing"), "NOT_FOUND: ");
  }

  private Admin admin() {
    return holdfast.store().admin();
  }

  @Test
  void a_command_to_an_unknown_worker_is_rejected() {
    bothRefuse(
        operator ->
            operator.workers().command("worker:none:0", null, WorkerCommand.Action.STOP, "why"),
        "NOT_FOUND: ");
  }

  @Test
  void an_id_of_another_job_is_rejected() {
    JobId job = enqueued();
    bothRefuse(operator -> operator.jobs().enqueue(List.of(Job.of("other").id(job))), "ID_TAKEN: ");
  }

  @Test
  void an_unknown_schedule_is_neither_paused_nor_resumed_nor_removed() {
    for (Function<Operator, Boolean> act :
        Stream.<Function<Operator, Boolean>>of(
                operator -> operator.schedules().pause("none", null),
                operator -> operator.schedules().resume("none"),
                operator -> operator.schedules().remove("none"))
            .toList()) {
      assertThat(both(act).value()).isEqualTo(false);
    }
  }
}
