package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class RateLimitTest extends QueueFixture {
  private static final Duration DAY = Duration.ofDays(1);

  /** As if this much time had passed since the bucket was filled. */
  private void pass(String interval) {
    assertThat(
            db.sql(
                "UPDATE holdfast.queue SET rate_tokens_at = rate_tokens_at - interval '"
                    + interval
                    + "'"))
        .isEqualTo(1);
  }

  @Test
  void no_more_jobs_are_claimed_in_a_period_than_the_rate_allows() {
    admin.rate(QUEUE, 10, DAY);
    queue.enqueue(jobs(50));
    assertThat(claim(4)).hasSize(4);
    assertThat(claim(50)).hasSize(6);
    assertThat(claim(50)).isEmpty();
    pass("12 hours");
    assertThat(claim(50)).hasSize(5);
    pass("30 days");
    assertThat(claim(50)).as("the bucket holds the tokens of one period").hasSize(10);
  }

  @Test
  void an_empty_claim_returns_when_the_next_token_is_available() {
    admin.rate(QUEUE, 2, DAY);
    queue.enqueue(jobs(5));
    assertThat(claim(5)).hasSize(2);
    assertThat(queue.claim(new ClaimRequest(QUEUE, 5, WORKER, LEASE)).nextDue())
        .isBetween(Duration.ofHours(12).minusSeconds(30), Duration.ofHours(12).plusMillis(1));
    pass("11 hours");
    assertThat(queue.claim(new ClaimRequest(QUEUE, 5, WORKER, LEASE)).nextDue())
        .isBetween(Duration.ofMinutes(59), Duration.ofHours(1));
    add(job().delay(Duration.ofMinutes(5)));
    assertThat(queue.claim(new ClaimRequest(QUEUE, 5, WORKER, LEASE)).nextDue())
        .isBetween(Duration.ofMinutes(4), Duration.ofMinutes(5));
    pass("1 hour");
    assertThat(claim(5)).hasSize(1);
  }

  @Test
  void a_worker_that_waits_as_told_claims_one_job_per_short_period() {
    admin.rate(QUEUE, 1, Duration.ofMillis(20));
    queue.enqueue(jobs(10));
    int claimed = 0;
    for (int looks = 0; claimed < 10 && looks < 100; looks++) {
      Claimed answer = queue.claim(new ClaimRequest(QUEUE, 5, WORKER, LEASE));
      claimed += answer.jobs().size();
      if (answer.jobs().isEmpty()) {
        assertThat(answer.nextDue()).isBetween(Duration.ofMillis(1), Duration.ofMillis(21));
        // As a worker does: it waits until the due time it was given.
        LockSupport.parkNanos(Objects.requireNonNull(answer.nextDue()).toNanos());
      }
    }
    assertThat(claimed).isEqualTo(10);
  }

  @Test
  void a_job_that_ends_returns_no_token() {
    admin.rate(QUEUE, 2, DAY);
    queue.enqueue(jobs(5));
    List<LeasedJob> started = claim(5);
    assertThat(started).hasSize(2);
    queue.settle(started.stream().map(job -> (Settlement) succeed(job.lease())).toList());
    assertThat(claim(5)).isEmpty();
  }

  @Test
  void eight_workers_share_one_rate() {
    admin.rate(QUEUE, 30, DAY);
    queue.enqueue(jobs(200));
    Parallel.run(
        8,
        i ->
            () -> {
              for (int n = 0; n < 10; n++) {
                queue.claim(new ClaimRequest(QUEUE, 3, "w" + i, LEASE));
              }
              return true;
            });
    assertThat(count(JobState.RUNNING)).isEqualTo(30);
  }

  @Test
  void processes_share_one_rate() {
    admin.rate(QUEUE, 30, DAY);
    queue.enqueue(jobs(200));
    List<JobQueue> processes = List.of(queue, another().jobs());
    Parallel.run(
        4,
        i ->
            () -> {
              for (int n = 0; n < 10; n++) {
                processes.get(i % 2).claim(new ClaimRequest(QUEUE, 3, "w" + i, LEASE));
              }
              return true;
            });
    assertThat(count(JobState.RUNNING)).isEqualTo(30);
    assertThat(processes.get(1).claim(new ClaimRequest(QUEUE, 3, "w", LEASE)).jobs()).isEmpty();
  }

  @Test
  void jobs_with_concurrency_keys_spend_tokens_too() {
    admin.rate(QUEUE, 3, DAY);
    queue.enqueue(
        List.of(
            job().concurrencyKey("a", 1),
            job().concurrencyKey("a", 1),
            job().concurrencyKey("b", 1),
            job(),
            job()));
    assertThat(claim(10)).hasSize(3);
    assertThat(claim(10)).isEmpty();
  }

  @Test
  void changing_a_rate_refills_its_tokens_and_lifting_it_removes_it() {
    admin.rate(QUEUE, 1, DAY);
    queue.enqueue(jobs(20));
    assertThat(claim(20)).hasSize(1);
    admin.rate(QUEUE, 5, DAY);
    assertThat(claim(20)).hasSize(5);
    admin.liftRate(QUEUE);
    assertThat(claim(20)).hasSize(14);
    assertThat(admin.queues(Tenant.ANY).getFirst().rateLimit()).isNull();
  }

  @Test
  void a_rate_is_shown_with_the_other_settings_of_the_queue() {
    admin.limit(QUEUE, 4);
    admin.rate(QUEUE, 7, Duration.ofMinutes(1));
    QueueStatus status = admin.queues(Tenant.ANY).getFirst();
    assertThat(status.maxRunning()).isEqualTo(4);
    assertThat(status.rateLimit()).isEqualTo(new RateLimit(7, Duration.ofMinutes(1)));
  }

  @Test
  void an_invalid_rate_is_refused() {
    assertRefused(Refusal.BAD_LIMIT, () -> admin.rate(QUEUE, 0, DAY));
    assertRefused(Refusal.BAD_LIMIT, () -> admin.rate(QUEUE, 1, Duration.ZERO));
    assertRefused(
        Refusal.BAD_LIMIT, () -> admin.rate(QUEUE, 1, Duration.ofSeconds(Long.MAX_VALUE)));
    assertThat(admin.queues(Tenant.ANY)).isEmpty();
  }
}
