package dev.holdfast.queue.recover;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.PrematureEnds;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.OnConnection;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ReapTest extends QueueFixture {
  private ReapResult reap() {
    return maintenance.reap(Duration.ZERO);
  }

  @Test
  void a_job_whose_lease_expired_is_requeued_and_claimed_again() {
    Lease lease = running();
    expire(lease);

    ReapResult swept = reap();

    assertThat(swept.requeued()).containsExactly(lease.job());
    assertThat(swept.ended()).isEmpty();
    assertThat(swept.requeuedIn()).isEqualTo(Set.of(QUEUE));
    JobStatus status = status(lease.job());
    assertThat(status.state()).isEqualTo(JobState.PENDING);
    assertThat(status.crashes()).isEqualTo(1);
    assertThat(status.failures()).isZero();
    assertThat(status.worker()).isNull();
    assertThat(status.leaseExpiresAt()).isNull();
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.HEARTBEAT_TIMEOUT);
    assertThat(claimOne()).isEqualTo(new Lease(lease.job(), 2));
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "requeued:stale", "processing");
  }

  @Test
  void the_lost_attempt_is_recorded() {
    Lease lease = running();
    expire(lease);
    reap();
    Attempt attempt = queries.attempts(lease.job()).getFirst();
    assertThat(attempt.number()).isEqualTo(1);
    assertThat(attempt.outcome()).isEqualTo(AttemptOutcome.CRASHED);
    assertThat(attempt.worker()).isEqualTo(WORKER);
    assertThat(attempt.endedAt()).isAfter(attempt.startedAt());
    Failure failure = Objects.requireNonNull(attempt.failure());
    assertThat(failure.category()).isEqualTo(FailureCategory.INFRASTRUCTURE);
    assertThat(failure.code()).isEqualTo("HEARTBEAT_TIMEOUT");
    assertThat(failure.message()).contains(WORKER);
    JobEvent requeued = queries.timeline(lease.job()).getLast();
    assertThat(requeued.type()).isEqualTo("requeued:stale");
    assertThat(requeued.attempt()).isEqualTo(1);
    assertThat(requeued.data().text()).contains("HEARTBEAT_TIMEOUT");
  }

  @Test
  void the_third_crash_makes_the_job_toxic() {
    JobId job = add(job());
    for (int crash = 1; crash <= 3; crash++) {
      Lease lease = claimOne();
      assertThat(lease.attempt()).isEqualTo(crash);
      expire(lease);
      ReapResult swept = reap();
      assertThat(swept.requeued()).hasSize(crash < 3 ? 1 : 0);
      assertThat(swept.ended()).hasSize(crash < 3 ? 0 : 1);
    }
    assertThat(state(job)).isEqualTo(JobState.FAILED);
    assertThat(status(job).crashes()).isEqualTo(3);
    assertThat(failure(job).code()).isEqualTo(Failure.TOXIC_JOB);
    assertThat(failure(job).retryable()).isFalse();
    assertThat(failure(job).message()).startsWith("3 workers died running this job");
    assertThat(events(job))
        .containsExactly(
            "created",
            "processing",
            "requeued:stale",
            "processing",
            "requeued:stale",
            "processing",
            "failed");
    assertThat(queries.timeline(job).getLast().data().text())
        .contains("TOXIC_JOB")
        .contains("\"cause\"")
        .contains("HEARTBEAT_TIMEOUT");
    assertThat(claim(1)).isEmpty();
  }

  private Lease claimedRemotely() {
    return queue
        .claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE).remote())
        .jobs()
        .getFirst()
        .lease();
  }

  /** As if all of it had happened an hour ago. */
  private void expireUnconfirmed(Lease lease) {
    db.sql(
        "UPDATE holdfast.job SET started_at = started_at - interval '1 hour',"
            + " heartbeat_at = heartbeat_at - interval '1 hour',"
            + " lease_expires_at = heartbeat_at - interval '1 hour' WHERE id = ?",
        lease.job().value());
  }

  @Test
  void an_unconfirmed_claim_is_requeued_without_a_crash_three_times() {
    JobId job = add(job().maxCrashes(0));
    for (int lost = 1; lost <= Reap.MOST_UNCONFIRMED; lost++) {
      Lease lease = claimedRemotely();
      assertThat(lease.attempt()).isEqualTo(lost);
      expireUnconfirmed(lease);
      assertThat(reap().requeued()).containsExactly(job);
      assertThat(status(job).crashes()).isZero();
      assertThat(queries.attempts(job).getLast().outcome()).isEqualTo(AttemptOutcome.RELEASED);
      assertThat(queries.timeline(job).getLast().type()).isEqualTo("requeued:stale");
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE isolated")).isZero();
    expireUnconfirmed(claimedRemotely());
    assertThat(reap().ended()).containsExactly(job);
    assertThat(status(job).crashes()).isEqualTo(1);
    assertThat(failure(job).code()).isEqualTo(Failure.TOXIC_JOB);
  }

  @Test
  void a_release_after_the_reap_returns_lease_lost() {
    add(job());
    Lease lease = claimedRemotely();
    expireUnconfirmed(lease);
    reap();
    assertThat(queue.settle(new Settlement.Release(lease, false))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_claim_confirmed_by_a_heartbeat_or_report_counts_as_a_crash_when_it_expires() {
    JobId beating = add(job());
    Lease heard = claimedRemotely();
    queue.heartbeat(List.of(heard), LEASE);
    JobId reporting = add(job());
    Lease reported = claimedRemotely();
    queue.report(List.of(new Report.Progress(reported, 10, null)));
    expireUnconfirmed(heard);
    expireUnconfirmed(reported);
    reap();
    assertThat(status(beating).crashes()).isEqualTo(1);
    assertThat(status(reporting).crashes()).isEqualTo(1);
  }

  @Test
  void a_job_without_crash_budget_is_toxic_after_its_first_crash() {
    Lease lease = addAndClaim(job().maxCrashes(0));
    expire(lease);
    assertThat(reap().ended()).containsExactly(lease.job());
    assertThat(failure(lease.job()).code()).isEqualTo(Failure.TOXIC_JOB);
    assertThat(failure(lease.job()).message()).startsWith("1 worker died running this job");
  }

  @Test
  void jobs_that_crash_together_become_suspects_and_only_one_that_crashes_alone_is_toxic() {
    List<JobId> ids = queue.enqueue(jobs(3)).stream().map(e -> e.id()).toList();
    for (int crash = 1; crash <= 2; crash++) {
      List<LeasedJob> claimed = claim(3);
      assertThat(claimed).hasSize(3);
      // One after the other: what was claimed last has the youngest lease.
      for (LeasedJob job : claimed) {
        expire(job.lease());
        assertThat(reap().requeued()).containsExactly(job.id());
      }
    }
    // From now on each runs alone in a worker, so that a crash can only be its own.
    List<LeasedJob> alone = claim(3);
    assertThat(alone).hasSize(1);
    expire(alone.getFirst().lease());
    assertThat(reap().ended()).containsExactly(alone.getFirst().id());
    assertThat(failure(alone.getFirst().id()).code()).isEqualTo(Failure.TOXIC_JOB);
    assertThat(ids.stream().filter(id -> state(id) == JobState.PENDING)).hasSize(2);
  }

  @Test
  void jobs_without_crash_budget_that_crash_together_fail_with_heartbeat_timeout() {
    queue.enqueue(jobs(2).stream().map(job -> job.maxCrashes(0)).toList());
    List<LeasedJob> claimed = claim(2);
    claimed.forEach(job -> expire(job.lease()));
    assertThat(reap().ended()).hasSize(2);
    assertThat(failure(claimed.getFirst().id()).code()).isEqualTo(Failure.HEARTBEAT_TIMEOUT);
    assertThat(failure(claimed.getFirst().id()).retryable()).isFalse();
  }

  @Test
  void crashes_and_failures_are_counted_separately() {
    JobId job = add(job().maxAttempts(2));
    Lease first = claimOne();
    expire(first);
    reap();
    queue.settle(fail(claimOne(), FLAKY));
    assertThat(status(job).crashes()).isEqualTo(1);
    assertThat(status(job).failures()).isEqualTo(1);
    assertThat(state(job)).isEqualTo(JobState.RETRYING);
  }

  @Test
  void a_job_with_a_cancel_request_is_cancelled_when_its_worker_died() {
    Lease lease = running();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    expire(lease);
    assertThat(reap().ended()).containsExactly(lease.job());
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(status(lease.job()).cancelReason()).isEqualTo("stop");
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "cancel:requested", "cancelled");
  }

  @Test
  void a_live_lease_is_not_reaped() {
    Lease live = running();
    String before = row(live.job());
    assertThat(reap()).isEqualTo(new ReapResult(List.of(), List.of(), Set.of()));
    assertThat(row(live.job())).isEqualTo(before);
  }

  @Test
  void a_grace_period_is_added_to_the_lease() {
    Lease lease = running();
    expire(lease);
    assertThat(maintenance.reap(Duration.ofHours(2)).requeued()).isEmpty();
    assertThat(maintenance.reap(Duration.ofMillis(1)).requeued()).containsExactly(lease.job());
  }

  @Test
  void no_lease_is_reaped_before_the_server_has_been_up_for_one_lease() {
    Lease lease = running();
    // The lease ran out an hour ago, and is longer than this server has been up.
    set(
        lease.job(),
        "heartbeat_at = now() - interval '1 day', lease_expires_at = now() - interval '1 hour'");
    assertThat(reap().requeued()).isEmpty();
    // The same lease, had it been a little shorter than the time the server has been up.
    set(
        lease.job(),
        "heartbeat_at = lease_expires_at - (now() - pg_postmaster_start_time()) * 0.9");
    assertThat(reap().requeued()).containsExactly(lease.job());
  }

  @Test
  void concurrent_reapers_requeue_each_job_once() {
    queue.enqueue(jobs(400));
    List<LeasedJob> claimed = claim(400);
    db.sql(
        "UPDATE holdfast.job SET heartbeat_at = now() - interval '1 hour',"
            + " lease_expires_at = now() - interval '1 hour' WHERE state = 'RUNNING'");
    List<JobId> requeued =
        Parallel.run(4, i -> () -> maintenance.reap(Duration.ZERO).requeued()).stream()
            .flatMap(List::stream)
            .toList();
    assertThat(requeued)
        .containsExactlyInAnyOrderElementsOf(claimed.stream().map(LeasedJob::id).toList());
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE crashes <> 1")).isZero();
    assertThat(db.count("SELECT count(*) FROM holdfast.attempt")).isEqualTo(400);
    assertThat(db.count("SELECT count(*) FROM holdfast.event")).isEqualTo(400);
  }

  @Test
  void a_concurrent_heartbeat_and_reap_never_both_win() {
    try (PrematureEnds early = watched()) {
      beatAndReapAtOnce(100);
      assertThat(early.count()).isZero();
    }
  }

  private void beatAndReapAtOnce(int rounds) {
    for (int round = 0; round < rounds; round++) {
      Lease lease = running();
      expire(lease);
      List<Object> both =
          Parallel.run(
              2, i -> () -> i == 0 ? queue.heartbeat(List.of(lease), LEASE) : (Object) reap());
      boolean reaped = !((ReapResult) both.get(1)).requeued().isEmpty();
      boolean extended =
          db.count(
                  "SELECT count(*) FROM holdfast.job WHERE id = ? AND state = 'RUNNING'"
                      + " AND lease_expires_at > clock_timestamp()",
                  lease.job().value())
              == 1;
      assertThat(extended).as("one of the two, and not both").isNotEqualTo(reaped);
      assertThat(state(lease.job())).isEqualTo(reaped ? JobState.PENDING : JobState.RUNNING);
      HeartbeatResult result =
          ((List<?>) both.get(0))
              .stream().map(HeartbeatResult.class::cast).findFirst().orElseThrow();
      // Unless the reap took longer than a heartbeat waits; then the next one has the result.
      result = result.rowLocked() ? queue.heartbeat(List.of(lease), LEASE).getFirst() : result;
      assertThat(result.ack()).isEqualTo(reaped ? Ack.LEASE_LOST : Ack.ACCEPTED);
      assertThat(status(lease.job()).crashes()).isEqualTo(reaped ? 1 : 0);
      queue.cancel(List.of(lease.job()), false, "next", Tenant.ANY);
    }
  }

  private static PrematureEnds watched() {
    return PrematureEnds.watch(
        db, "NEW.crashes > OLD.crashes AND OLD.lease_expires_at > clock_timestamp()");
  }

  @Test
  void none_of_a_thousand_leases_is_reaped_before_it_expires() {
    queue.enqueue(jobs(1_000));
    List<Lease> leases = new ArrayList<>(claim(1_000).stream().map(LeasedJob::lease).toList());
    Collections.shuffle(leases, new Random(7));
    try (PrematureEnds early = watched()) {
      for (int round = 0; round < 3; round++) {
        beatWhileReaping(leases);
        assertThat(early.count()).isZero();
      }
    }
    long crashed = db.count("SELECT count(*) FROM holdfast.job WHERE crashes = 1");
    assertThat(count(JobState.RUNNING)).isEqualTo(1_000 - crashed);
    assertThat(count(JobState.PENDING)).isEqualTo(crashed);
  }

  /**
   * Two workers send heartbeats, a few leases at a time, so that many are extended during a reap.
   */
  private void beatWhileReaping(List<Lease> leases) {
    List<JobQueue> workers = List.of(another().jobs(), another().jobs());
    db.sql(
        "UPDATE holdfast.job SET heartbeat_at = now() - interval '1 hour',"
            + " lease_expires_at = now() - interval '1 hour' WHERE state = 'RUNNING'");
    AtomicBoolean beating = new AtomicBoolean(true);
    Parallel.run(
        3,
        i ->
            () -> {
              if (i == 2) {
                do {
                  reap();
                } while (beating.get());
              } else {
                for (int from = 500 * i; from < 500 * i + 500; from += 20) {
                  workers.get(i).heartbeat(leases.subList(from, from + 20), LEASE);
                }
                beating.set(false);
              }
              return true;
            });
  }

  @Test
  void a_reaper_does_not_wait_for_a_lease_that_is_being_extended() throws SQLException {
    Lease lease = running();
    expire(lease);
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      OnConnection.heartbeat(connection, List.of(lease), LEASE);
      assertThat(reap().requeued()).isEmpty();
      connection.commit();
    }
    assertThat(reap().requeued()).isEmpty();
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_reaped_job_keeps_its_place_in_the_queue() {
    List<JobId> ids = queue.enqueue(jobs(3)).stream().map(e -> e.id()).toList();
    expire(claimOne());
    reap();
    assertThat(claim(3)).extracting(LeasedJob::id).isEqualTo(ids);
  }
}
