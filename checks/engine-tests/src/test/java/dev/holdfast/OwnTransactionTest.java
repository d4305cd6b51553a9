package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.source.Metrics;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A handler that settles its job in the transaction of its own writes. */
class OwnTransactionTest extends OwnTransactionFixture {
  @Test
  void the_effect_and_the_success_commit_together() {
    JobId id = enqueue(Job.of("transfer"));
    List<Object> inBetween = new CopyOnWriteArrayList<>();
    Worker worker =
        start(
            listened()
                .handle(
                    "transfer",
                    Json.class,
                    transfer(
                        (connection, context) -> {
                          inBetween.add(job(context.id()).state());
                          inBetween.add(effects(context.id()));
                        })));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(inBetween).containsExactly(JobState.RUNNING, 0L);
    assertThat(effects(id)).isEqualTo(1);
    assertThat(result(id)).isEqualTo("{\"attempt\": 1}");
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(timeline(id)).containsExactly("created", "processing", "done");
    until(() -> heard.equals(List.of("Succeed ACCEPTED")));
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void a_transaction_that_was_not_committed_fails_the_attempt_and_leaves_no_effect() {
    JobId id = enqueue(Job.of("transfer").maxAttempts(2));
    worker()
        .handle(
            "transfer",
            Json.class,
            AT_ONCE,
            transfer((connection, context) -> connection.rollback()))
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure(id).message()).contains("did not commit");
    assertThat(attempts(id)).containsExactly(AttemptOutcome.FAILED, AttemptOutcome.FAILED);
    assertThat(effects(id)).isZero();
  }

  @Test
  void a_handler_that_throws_before_its_commit_is_retried_and_has_its_effect_once() {
    JobId id = enqueue(Job.of("transfer"));
    worker()
        .handle(
            "transfer",
            Json.class,
            AT_ONCE,
            transfer(
                (connection, context) -> {
                  if (context.lease().attempt() == 1) {
                    throw new IllegalStateException("second thoughts");
                  }
                }))
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(2);
    assertThat(effects(id)).isEqualTo(1);
  }

  @Test
  void a_handler_that_continues_after_its_commit_is_not_treated_as_having_lost_its_lease()
      throws Exception {
    CompletableFuture<Boolean> disturbed = new CompletableFuture<>();
    JobId id = enqueue(Job.of("transfer"));
    Worker worker =
        start(
            worker()
                .timings(QUICK)
                .handle(
                    "transfer",
                    Json.class,
                    (payload, context) -> {
                      transfer((connection, c) -> {}).handle(payload, context);
                      try {
                        Thread.sleep(QUICK.heartbeat().multipliedBy(5));
                        disturbed.complete(context.isCancelled());
                      } catch (InterruptedException e) {
                        disturbed.complete(true);
                      }
                      return null;
                    }));
    assertThat(disturbed.get(SOON.toSeconds(), TimeUnit.SECONDS)).isFalse();
    await(id, JobState.SUCCEEDED);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void progress_after_the_settle_is_ignored_and_events_are_refused() {
    JobId id = enqueue(Job.of("transfer"));
    worker()
        .handle(
            "transfer",
            Json.class,
            (payload, context) -> {
              context.progress(10);
              context.progress(100, "all written");
              return transfer(
                      (connection, c) -> {
                        c.progress(1, "too late");
                        assertThatThrownBy(() -> c.event("late", ""))
                            .isInstanceOf(IllegalStateException.class);
                      })
                  .handle(payload, context);
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).progress()).isEqualTo(100);
    assertThat(timeline(id)).endsWith("progress", "done").doesNotContain("late");
  }

  @Test
  void a_result_that_cannot_be_stored_fails_the_job_without_an_effect() {
    JobId id = enqueue(Job.of("odd"));
    worker()
        .handle(
            "odd",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              try (Connection connection = db.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                write(connection, context);
                holdfast.succeed(connection, context, "a\0b");
                connection.commit();
              }
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(job(id).attempt()).isEqualTo(1);
    assertThat(failure(id).code()).isEqualTo("RESULT_NOT_JSON");
    assertThat(effects(id)).isZero();
  }

  @Test
  void settling_on_a_connection_in_autocommit_is_refused() {
    JobId id = enqueue(Job.of("careless").maxAttempts(1));
    worker()
        .handle(
            "careless",
            Json.class,
            (payload, context) -> {
              try (Connection connection = db.dataSource().getConnection()) {
                holdfast.succeed(connection, context, null);
              }
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("turn auto-commit off");
  }
}
