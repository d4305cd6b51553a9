package dev.holdfast.queue.recover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.PrematureEnds;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ExpireTest extends QueueFixture {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private ReapResult expire() {
    return maintenance.expire();
  }

  @Test
  void of_cancellations_alone_only_those_are_ended_that_were_requested_lately() {
    Lease late = running();
    Lease before = running();
    for (Lease lease : List.of(late, before)) {
      queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
      set(lease.job(), "cancel_deadline = now() - interval '1 ms'");
    }
    set(before.job(), "cancel_requested_at = now() - interval '2 minutes'");
    Lease timedOut = running();
    set(timedOut.job(), "started_at = now() - interval '1 hour', timeout_ms = 1");
    assertThat(maintenance.expireCancelled(MINUTE).ended()).containsExactly(late.job());
    assertThat(failure(late.job()).code()).isEqualTo(Failure.CANCEL_TIMEOUT);
    assertThat(state(before.job())).isEqualTo(JobState.RUNNING);
    assertThat(state(timedOut.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_worker_that_does_not_stop_within_the_grace_period_loses_its_lease() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    assertThat(expire().ended()).isEmpty();
    set(lease.job(), "cancel_deadline = now() - interval '1 ms'");

    assertThat(expire().ended()).containsExactly(lease.job());

    assertThat(state(lease.job())).isEqualTo(JobState.FAILED);
    Failure failure = failure(lease.job());
    assertThat(failure.code()).isEqualTo(Failure.CANCEL_TIMEOUT);
    assertThat(failure.category()).isEqualTo(FailureCategory.CANCELLED);
    assertThat(failure.message()).isEqualTo(Failure.CANCEL_TIMEOUT_MESSAGE);
    assertThat(failure.retryable()).isFalse();
    assertThat(status(lease.job()).failures()).isZero();
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.LEASE_LOST);
    assertThat(queue.settle(new Settlement.Cancel(lease, null))).isEqualTo(Ack.LEASE_LOST);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "cancel:requested", "failed");
  }

  @Test
  void an_attempt_past_its_timeout_is_retried() {
    Lease lease = addAndClaim(job().timeout(MINUTE));
    assertThat(expire().requeued()).isEmpty();
    set(lease.job(), "started_at = now() - interval '61 s'");
    assertThat(expire().requeued()).as("within the grace period").isEmpty();
    set(lease.job(), "started_at = now() - interval '91 s'");

    assertThat(expire().requeued()).containsExactly(lease.job());

    assertThat(state(lease.job())).isEqualTo(JobState.RETRYING);
    assertThat(status(lease.job()).failures()).isEqualTo(1);
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.ATTEMPT_TIMEOUT);
    assertThat(failure(lease.job()).category()).isEqualTo(FailureCategory.TIMEOUT);
    assertThat(failure(lease.job()).message())
        .isEqualTo(Failure.ATTEMPT_TIMEOUT_MESSAGE.formatted(60_000));
    assertThat(queries.attempts(lease.job()).getFirst().outcome()).isEqualTo(AttemptOutcome.FAILED);
    assertThat(claimOne()).isEqualTo(new Lease(lease.job(), 2));
  }

  @Test
  void the_last_attempt_past_its_timeout_exhausts_the_retries() {
    Lease lease = addAndClaim(job().timeout(MINUTE).maxAttempts(1));
    set(lease.job(), "started_at = now() - interval '1 hour'");
    assertThat(expire().ended()).containsExactly(lease.job());
    assertThat(state(lease.job())).isEqualTo(JobState.FAILED);
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure(lease.job()).message()).contains(Failure.ATTEMPT_TIMEOUT);
  }

  @Test
  void a_timeout_counts_from_the_start_of_the_attempt_not_of_the_job() {
    Lease first = addAndClaim(job().timeout(MINUTE));
    set(
        first.job(),
        "created_at = now() - interval '1 day', started_at = now() - interval '1 day'");
    queue.settle(new Settlement.Release(first, false));
    claimOne();
    assertThat(expire().requeued()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"WAITING", "PENDING", "RETRYING"})
  void a_job_past_its_deadline_fails_though_it_is_not_running(JobState state) {
    Lease lease = addAndClaim(job().deadline(Instant.now().plusSeconds(3_600)));
    queue.settle(new Settlement.Fail(lease, FLAKY, Duration.ofHours(5)));
    set(lease.job(), "state = '" + state + "'");
    assertThat(expire().ended()).isEmpty();
    set(lease.job(), "deadline = now() - interval '1 ms'");

    assertThat(expire().ended()).containsExactly(lease.job());

    assertThat(state(lease.job())).isEqualTo(JobState.FAILED);
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(failure(lease.job()).message()).endsWith("the job was " + state);
    assertThat(status(lease.job()).failures()).isEqualTo(1);
    assertThat(events(lease.job())).last().isEqualTo("failed");
  }

  @Test
  void a_running_job_past_its_deadline_fails_after_the_grace_period() {
    Lease lease = addAndClaim(job().deadline(Instant.now().plusSeconds(3_600)));
    set(lease.job(), "deadline = now() - interval '10 s'");
    assertThat(expire().ended()).isEmpty();
    set(lease.job(), "deadline = now() - interval '31 s'");
    assertThat(expire().ended()).containsExactly(lease.job());
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(status(lease.job()).failures()).isZero();
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void the_grace_period_is_that_of_the_worker_that_holds_the_job() {
    Duration long_ = Duration.ofHours(2);
    Lease cancelled = claimedWith(job(), long_);
    Lease timedOut = claimedWith(job().timeout(MINUTE), long_);
    Lease late = claimedWith(job().deadline(Instant.now().plusSeconds(3_600)), long_);
    queue.cancel(List.of(cancelled.job()), false, "stop", Tenant.ANY);
    assertThat(
            db.count(
                "SELECT extract(epoch FROM cancel_deadline - cancel_requested_at)"
                    + " FROM holdfast.job WHERE cancel_deadline IS NOT NULL"))
        .isEqualTo(long_.toSeconds());
    set(timedOut.job(), "started_at = now() - interval '1 hour'");
    set(late.job(), "deadline = now() - interval '1 hour'");
    assertThat(expire()).isEqualTo(new ReapResult(List.of(), List.of(), Set.of()));
    set(timedOut.job(), "started_at = now() - interval '3 hours'");
    set(late.job(), "deadline = now() - interval '3 hours'");
    assertThat(expire().ended()).containsExactly(late.job());
    assertThat(state(timedOut.job())).isEqualTo(JobState.RETRYING);
    assertThat(state(cancelled.job())).isEqualTo(JobState.RUNNING);
  }

  private Lease claimedWith(Job job, Duration cancelGrace) {
    add(job);
    return queue
        .claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE).cancelGrace(cancelGrace))
        .jobs()
        .getFirst()
        .lease();
  }

  @Test
  void a_job_that_ended_before_its_deadline_is_not_changed_by_it() {
    Lease lease = addAndClaim(job().deadline(Instant.now().plusSeconds(3_600)));
    queue.settle(succeed(lease));
    set(lease.job(), "deadline = now() - interval '1 day'");
    assertThat(expire()).isEqualTo(new ReapResult(List.of(), List.of(), Set.of()));
  }

  @Test
  void a_cancellation_outranks_a_deadline_and_a_deadline_outranks_a_timeout() {
    Lease lease = addAndClaim(job().timeout(MINUTE));
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    set(
        lease.job(),
        "started_at = now() - interval '1 hour', deadline = now() - interval '1 hour',"
            + " cancel_deadline = now() - interval '1 hour'");
    expire();
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.CANCEL_TIMEOUT);

    Lease other = addAndClaim(job().timeout(MINUTE));
    set(
        other.job(),
        "started_at = now() - interval '1 hour', deadline = now() - interval '1 hour'");
    expire();
    assertThat(failure(other.job()).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
  }

  @Test
  void concurrent_sweeps_end_each_job_once() {
    queue.enqueue(jobs(200));
    claim(100);
    db.sql("UPDATE holdfast.job SET deadline = now() - interval '1 hour'");
    List<JobId> ended =
        Parallel.run(4, i -> () -> maintenance.expire().ended()).stream()
            .flatMap(List::stream)
            .toList();
    assertThat(ended).hasSize(200).doesNotHaveDuplicates();
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isEqualTo(200);
  }

  @Test
  void a_new_attempt_is_not_ended_for_the_timeout_of_the_previous_one() {
    queue.enqueue(
        IntStream.range(0, 1_000).mapToObj(i -> job().timeout(Duration.ofHours(1))).toList());
    List<UUID> ids = new ArrayList<>(claim(1_000).stream().map(job -> job.id().value()).toList());
    Collections.shuffle(ids, new Random(7));
    try (PrematureEnds early =
        PrematureEnds.watch(
            db,
            "NEW.failures > OLD.failures"
                + " AND OLD.started_at + OLD.timeout_ms * interval '1 ms' > clock_timestamp()")) {
      for (int round = 0; round < 3; round++) {
        db.sql(
            "UPDATE holdfast.job SET started_at = now() - interval '1 day' WHERE state = 'RUNNING'");
        AtomicBoolean beginning = new AtomicBoolean(true);
        Parallel.run(3, i -> () -> i == 2 ? sweptWhile(beginning) : begunAnew(ids, i, beginning));
        assertThat(early.count()).isZero();
      }
    }
  }

  private boolean sweptWhile(AtomicBoolean beginning) {
    do {
      expire();
    } while (beginning.get());
    return true;
  }

  /** As if these had been released and claimed again, a few at a time. */
  private static boolean begunAnew(List<UUID> ids, int half, AtomicBoolean beginning)
      throws SQLException {
    try (Connection connection = db.connection()) {
      for (int from = 500 * half; from < 500 * half + 500; from += 20) {
        Sql.of(
                "UPDATE holdfast.job SET started_at = clock_timestamp() WHERE state = 'RUNNING'"
                    + " AND id IN (SELECT id FROM holdfast.job WHERE id = ANY (:jobs) ORDER BY id"
                    + " FOR NO KEY UPDATE SKIP LOCKED)")
            .on(connection)
            .array("jobs", "uuid", ids.subList(from, from + 20), id -> id)
            .update();
      }
    }
    beginning.set(false);
    return true;
  }

  @Test
  void a_locked_row_is_left_for_the_next_sweep() throws SQLException {
    Lease lease = addAndClaim(job().timeout(MINUTE));
    set(lease.job(), "started_at = now() - interval '1 hour'");
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.succeed(connection, succeed(lease));
      assertThat(expire().requeued()).isEmpty();
      connection.rollback();
    }
    assertThat(expire().requeued()).containsExactly(lease.job());
  }
}
