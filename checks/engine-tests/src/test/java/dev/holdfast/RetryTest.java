package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RetryTest extends LibraryTest {
  private static FailedException failed(String code, Duration retryAfter) {
    return new FailedException(
        Failure.of(FailureCategory.INFRASTRUCTURE, code, "not now"), retryAfter);
  }

  private Instant runAt(JobId id) {
    return job(id).runAt();
  }

  @Test
  void a_failed_attempt_is_retried_and_may_succeed() {
    JobId id = enqueue(Job.of("flaky"));
    Worker worker =
        start(
            worker()
                .handle(
                    "flaky",
                    Json.class,
                    new RetryPolicy(Duration.ofMillis(100), 2, Duration.ofSeconds(1)),
                    (payload, context) -> {
                      if (context.lease().attempt() < 3) {
                        throw FailedException.of(FailureCategory.USER_CODE, "OOPS", "again");
                      }
                      return context.lease().attempt();
                    }));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("3");
    assertThat(job.attempt()).isEqualTo(3);
    assertThat(job.failures()).isEqualTo(2);
    assertThat(attempts(id))
        .containsExactly(AttemptOutcome.FAILED, AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
    assertThat(timeline(id))
        .containsExactly(
            "created",
            "processing",
            "retry:scheduled",
            "processing",
            "retry:scheduled",
            "processing",
            "done");
    assertThat(worker.metrics().value("worker.retry_attempts_total{code=\"OOPS\"}")).isEqualTo(2);
  }

  @Test
  void the_wait_follows_the_policy_of_the_kind() {
    JobId id = enqueue(Job.of("slow-to-return"));
    worker()
        .handle(
            "slow-to-return",
            Json.class,
            new RetryPolicy(Duration.ofHours(24), 1, Duration.ofHours(24)),
            (payload, context) -> {
              throw new IllegalStateException("not today");
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.RETRYING);
    assertThat(runAt(id)).isBefore(Instant.now().plus(Duration.ofHours(24)));
    // Full jitter: it would be a rare day that chose less than a second out of a whole one.
    assertThat(runAt(id)).isAfter(Instant.now().plusSeconds(1));
  }

  @Test
  void a_handler_may_set_its_own_retry_delay() {
    JobId id = enqueue(Job.of("busy"));
    worker()
        .handle(
            "busy",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              throw failed("BUSY", Duration.ofHours(5));
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.RETRYING);
    assertThat(runAt(id))
        .isBetween(
            Instant.now().plus(Duration.ofHours(4)), Instant.now().plus(Duration.ofHours(6)));
  }

  @Test
  void when_the_budget_is_used_up_the_job_fails_and_keeps_the_cause() {
    JobId id = enqueue(Job.of("hopeless").maxAttempts(3));
    worker()
        .handle(
            "hopeless",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              throw failed("STORAGE_TIMEOUT", Duration.ZERO);
            })
        .drain();
    JobStatus job = job(id);
    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.attempt()).isEqualTo(3);
    assertThat(job.failures()).isEqualTo(3);
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure(id).category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
    assertThat(failure(id).message()).contains("3 of 3", "STORAGE_TIMEOUT", "not now");
    assertThat(holdfast.queries().attempts(id))
        .allSatisfy(
            attempt -> {
              assertThat(attempt.failure()).isNotNull();
              assertThat(String.valueOf(attempt.failure())).contains("STORAGE_TIMEOUT");
            });
  }

  @Test
  void a_non_retryable_failure_fails_at_once_and_uses_no_budget() {
    JobId id = enqueue(Job.of("picky"));
    worker()
        .handle(
            "picky",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              throw FailedException.of(FailureCategory.DATA_QUALITY, "NO_HEADER", "where is it?");
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(job(id).attempt()).isEqualTo(1);
    assertThat(job(id).failures()).isZero();
    assertThat(failure(id).code()).isEqualTo("NO_HEADER");
  }

  @Test
  void a_snooze_uses_no_budget() {
    JobId id = enqueue(Job.of("tired").maxAttempts(1));
    worker()
        .handle(
            "tired",
            Json.class,
            (payload, context) -> {
              if (context.lease().attempt() < 6) {
                throw context.snooze(Duration.ZERO);
              }
              return "awake";
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(6);
    assertThat(job(id).failures()).isZero();
    assertThat(job(id).crashes()).isZero();
    assertThat(timeline(id)).filteredOn("snoozed"::equals).hasSize(5);
  }

  @Test
  void a_snoozed_job_runs_again_after_its_delay() {
    JobId id = enqueue(Job.of("tired"));
    worker()
        .handle(
            "tired",
            Json.class,
            (payload, context) -> {
              throw context.snooze(Duration.ofDays(1));
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.PENDING);
    assertThat(runAt(id)).isAfter(Instant.now().plus(Duration.ofHours(23)));
  }

  @Test
  void a_snooze_out_of_range_fails_the_job() {
    JobId id = enqueue(Job.of("confused").maxAttempts(1));
    worker()
        .handle(
            "confused",
            Json.class,
            (payload, context) -> {
              throw context.snooze(Duration.ofSeconds(Long.MAX_VALUE));
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("BAD_DELAY");
  }
}
