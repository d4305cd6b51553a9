package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which failures are retried, and how often. */
class BudgetTest extends QueueFixture {
  private Lease failAndClaim(Lease lease) {
    queue.settle(fail(lease, FLAKY));
    return claimOne();
  }

  @Test
  void the_third_retryable_failure_exhausts_a_budget_of_three_and_the_cause_is_kept() {
    Lease first = addAndClaim(job().maxAttempts(3));
    Lease third = failAndClaim(failAndClaim(first));
    assertThat(third.attempt()).isEqualTo(3);

    assertThat(queue.settle(fail(third, FLAKY))).isEqualTo(Ack.ACCEPTED);

    JobStatus status = status(first.job());
    assertThat(status.state()).isEqualTo(JobState.FAILED);
    assertThat(status.failures()).isEqualTo(3);
    assertThat(status.finishedAt()).isNotNull();
    Failure failure = failure(first.job());
    assertThat(failure.code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure.category()).isEqualTo(FLAKY.category());
    assertThat(failure.retryable()).isFalse();
    assertThat(failure.message())
        .isEqualTo("3 of 3 attempts failed, the last with FLAKY: it broke");
    assertThat(queries.timeline(first.job()).getLast().data().text())
        .contains("RETRIES_EXHAUSTED")
        .contains("\"cause\"")
        .contains("\"FLAKY\"");
    assertThat(queries.attempts(first.job()))
        .extracting(Attempt::outcome)
        .containsExactly(AttemptOutcome.FAILED, AttemptOutcome.FAILED, AttemptOutcome.FAILED);
    assertThat(queries.attempts(first.job()).getLast().failure())
        .as("the attempt has the reported failure")
        .isEqualTo(FLAKY);
    assertThat(claim(1)).isEmpty();
  }

  @Test
  void a_non_retryable_failure_fails_the_job_at_once_and_uses_no_budget() {
    Lease lease = running();
    queue.settle(fail(lease, HOPELESS));
    JobStatus status = status(lease.job());
    assertThat(status.state()).isEqualTo(JobState.FAILED);
    assertThat(status.failures()).isZero();
    assertThat(status.failure()).isEqualTo(HOPELESS);
    assertThat(queries.timeline(lease.job()).getLast().data().text())
        .contains("BAD_ROW")
        .doesNotContain("runAt");
  }

  @Test
  void a_job_waits_out_its_retry_delay() {
    Lease lease = running();
    queue.settle(new Settlement.Fail(lease, FLAKY, Duration.ofMinutes(10)));
    JobStatus status = status(lease.job());
    assertThat(status.state()).isEqualTo(JobState.RETRYING);
    assertThat(status.failures()).isEqualTo(1);
    assertThat(status.failure()).isEqualTo(FLAKY);
    Instant ended = Objects.requireNonNull(queries.attempts(lease.job()).getFirst().endedAt());
    assertThat(Duration.between(ended, status.runAt()))
        .isBetween(Duration.ofMinutes(10).minusSeconds(5), Duration.ofMinutes(10));
    assertThat(maintenance.promote()).isZero();
    assertThat(claim(1)).isEmpty();
    assertThat(queries.timeline(lease.job()).getLast().type()).isEqualTo("retry:scheduled");
    assertThat(queries.timeline(lease.job()).getLast().data().text()).contains("runAt");
  }

  @Test
  void without_a_given_delay_the_retry_policy_counts_failures_only() {
    RetryPolicy usual = new RetryPolicy(Duration.ofHours(1), 10, Duration.ofDays(100));
    RetryPolicy ofKind = new RetryPolicy(Duration.ofDays(10), 2, Duration.ofDays(100));
    RetryDefaults defaults =
        new RetryDefaults(
            new Retries(null, usual), Map.of("slow", new Retries(null, ofKind)), Map.of());
    try (JobStore own =
        new JobStore(
            db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.retries(defaults))) {
      Lease lease = running();
      // Neither is a failure, and so neither makes the job wait longer.
      for (int i = 0; i < 5; i++) {
        own.jobs().settle(new Settlement.Release(lease, false));
        lease = claimOne();
      }
      own.jobs().settle(new Settlement.Fail(lease, FLAKY, null));
      assertThat(wait(lease)).isBetween(Duration.ofMinutes(29), Duration.ofHours(1));
      comeDue(lease.job());
      lease = claimOne();
      own.jobs().settle(new Settlement.Fail(lease, FLAKY, null));
      assertThat(wait(lease)).isBetween(Duration.ofMinutes(299), Duration.ofHours(10));

      Lease slow = addAndClaim(Job.of("slow"));
      own.jobs().settle(new Settlement.Fail(slow, FLAKY, null));
      assertThat(wait(slow)).isBetween(Duration.ofHours(119), Duration.ofDays(10));
    }
  }

  private Duration wait(Lease lease) {
    Instant ended = Objects.requireNonNull(queries.attempts(lease.job()).getLast().endedAt());
    return Duration.between(ended, status(lease.job()).runAt());
  }

  @Test
  void a_failure_with_any_text_is_stored() {
    Lease lease = running();
    Failure odd =
        new Failure(
            FailureCategory.USER_CODE,
            "C\0DE",
            "half \uD83D, a nul \0, a quote \" and \\ and 😀",
            "at\t\uDE00",
            false);
    assertThat(queue.settle(fail(lease, odd))).isEqualTo(Ack.ACCEPTED);
    assertThat(failure(lease.job()).message())
        .isEqualTo("half \uFFFD, a nul \uFFFD, a quote \" and \\ and 😀");
    assertThat(failure(lease.job()).stackTrace()).isEqualTo("at\t\uFFFD");
  }

  @Test
  void a_snoozed_job_runs_again_later_and_uses_no_budget() {
    Lease lease = addAndClaim(job().maxAttempts(1).maxCrashes(0));
    for (int i = 0; i < 5; i++) {
      assertThat(queue.settle(new Settlement.Snooze(lease, Duration.ofHours(1))))
          .isEqualTo(Ack.ACCEPTED);
      assertThat(claim(1)).isEmpty();
      comeDue(lease.job());
      lease = claimOne();
    }
    assertThat(lease.attempt()).isEqualTo(6);
    assertThat(status(lease.job()).failures()).isZero();
    assertThat(status(lease.job()).crashes()).isZero();
    assertThat(status(lease.job()).failure()).isNull();
    assertThat(queries.attempts(lease.job()).getFirst().outcome())
        .isEqualTo(AttemptOutcome.SNOOZED);
  }

  @Test
  void a_released_job_is_pending_at_once_and_uses_no_budget() {
    Lease lease = addAndClaim(job().maxAttempts(1).maxCrashes(0));
    for (int i = 0; i < 5; i++) {
      queue.settle(new Settlement.Release(lease, i % 2 == 0));
      lease = claimOne();
    }
    assertThat(lease.attempt()).isEqualTo(6);
    assertThat(status(lease.job()).failures()).isZero();
    assertThat(status(lease.job()).crashes()).isZero();
    assertThat(queries.attempts(lease.job()).getFirst().outcome())
        .isEqualTo(AttemptOutcome.RELEASED);
  }

  @Test
  void an_operators_retry_resets_the_budget_and_never_lowers_the_attempt() {
    Lease first = addAndClaim(job().maxAttempts(2));
    queue.settle(fail(failAndClaim(first), FLAKY));
    assertThat(state(first.job())).isEqualTo(JobState.FAILED);

    assertThat(queue.retry(List.of(first.job()), Tenant.ANY)).containsExactly(first.job());

    JobStatus status = status(first.job());
    assertThat(status.state()).isEqualTo(JobState.PENDING);
    assertThat(status.failures()).isZero();
    assertThat(status.attempt()).isEqualTo(2);
    assertThat(status.finishedAt()).isNull();
    Lease third = claimOne();
    assertThat(third.attempt()).isEqualTo(3);
    assertThat(failAndClaim(third).attempt()).isEqualTo(4);
    assertThat(events(first.job()))
        .containsExactly(
            "created",
            "processing",
            "retry:scheduled",
            "processing",
            "failed",
            "retried",
            "processing",
            "retry:scheduled",
            "processing");
  }

  @Test
  void a_toxic_job_that_is_retried_may_crash_again() {
    Lease lease = addAndClaim(job().maxCrashes(0));
    expire(lease);
    maintenance.reap(Duration.ZERO);
    queue.retry(List.of(lease.job()), Tenant.ANY);
    assertThat(status(lease.job()).crashes()).isZero();
    queue.settle(succeed(claimOne()));
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_cancelled_job_that_is_retried_is_no_longer_being_cancelled() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    queue.settle(new Settlement.Cancel(lease, null));
    queue.retry(List.of(lease.job()), Tenant.ANY);
    Lease second = claimOne();
    assertThat(queue.heartbeat(List.of(second), LEASE).getFirst().cancelRequested()).isFalse();
    assertThat(status(lease.job()).cancelRequestedAt()).isNull();
    assertThat(status(lease.job()).cancelReason()).isNull();
    maintenance.expire();
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void only_failed_and_cancelled_jobs_are_retried_in_bulk() {
    JobId pending = add(job().delay(Duration.ofHours(1)));
    Lease failed = running();
    queue.settle(fail(failed, HOPELESS));
    Lease done = running();
    queue.settle(succeed(done));
    Lease cancelled = running();
    queue.settle(new Settlement.Cancel(cancelled, null));
    Lease running = running();
    assertThat(
            queue.retry(
                List.of(
                    pending,
                    failed.job(),
                    done.job(),
                    cancelled.job(),
                    running.job(),
                    JobId.next()),
                Tenant.ANY))
        .containsExactlyInAnyOrder(failed.job(), cancelled.job());
    assertThat(state(done.job())).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_retry_clears_a_deadline_that_has_passed_and_keeps_one_that_has_not() {
    Instant future = Instant.parse("2090-01-01T00:00:00Z");
    JobId late = add(job().deadline(future));
    set(late, "deadline = now() - interval '1 s'");
    maintenance.expire();
    assertThat(state(late)).isEqualTo(JobState.FAILED);
    Lease failed = addAndClaim(job().deadline(future));
    queue.settle(fail(failed, HOPELESS));

    queue.retry(List.of(late, failed.job()), Tenant.ANY);
    maintenance.expire();

    assertThat(status(late).deadline()).isNull();
    assertThat(state(late)).isEqualTo(JobState.PENDING);
    assertThat(status(failed.job()).deadline()).isEqualTo(future);
  }

  @Test
  void a_job_with_a_cancel_request_is_never_requeued() {
    for (Settlement end :
        List.of(
            fail(cancelling(), FLAKY),
            new Settlement.Release(cancelling(), true),
            new Settlement.Snooze(cancelling(), Duration.ZERO))) {
      assertThat(queue.settle(end)).isEqualTo(Ack.ACCEPTED);
      assertThat(state(end.lease().job())).isEqualTo(JobState.CANCELLED);
      assertThat(events(end.lease().job())).last().isEqualTo("cancelled");
    }
  }

  @Test
  void a_job_with_a_cancel_request_that_succeeds_is_succeeded() {
    Lease lease = cancelling();
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
  }

  private Lease cancelling() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    return lease;
  }
}
