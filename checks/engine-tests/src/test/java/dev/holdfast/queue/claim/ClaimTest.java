package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimTest extends QueueFixture {
  @Test
  void a_claimed_job_carries_all_its_handler_needs() {
    JobId run = JobId.next();
    Job job =
        Job.of("send-mail", new Json("{\"to\": \"a\"}"))
            .owner("acme", "blue")
            .run(run, "first")
            .timeout(Duration.ofSeconds(7))
            .deadline(Instant.now().plusSeconds(1_000))
            .maxAttempts(9);
    add(job);
    set(job.id(), "run_at = now() - interval '1 min', created_at = now() - interval '1 min'");

    LeasedJob claimed = claim(1).getFirst();

    assertThat(claimed.lease()).isEqualTo(new Lease(job.id(), 1));
    assertThat(claimed.kind()).isEqualTo("send-mail");
    assertThat(claimed.queue()).isEqualTo(QUEUE);
    assertThat(claimed.payload()).isEqualTo(job.payload());
    assertThat(claimed.tenant()).isEqualTo("acme");
    assertThat(claimed.workspace()).isEqualTo("blue");
    assertThat(claimed.run()).isEqualTo(run);
    assertThat(claimed.failures()).isZero();
    assertThat(claimed.maxAttempts()).isEqualTo(9);
    assertThat(claimed.timeout()).isEqualTo(Duration.ofSeconds(7));
    assertThat(claimed.queueWait()).isBetween(Duration.ofSeconds(60), Duration.ofSeconds(120));
    assertThat(claimed.untilDeadline())
        .isBetween(Duration.ofSeconds(800), Duration.ofSeconds(1_000));
  }

  @Test
  void a_claim_leases_the_job_on_the_databases_clock() {
    Lease lease = running();
    JobStatus status = status(lease.job());
    assertThat(status.state()).isEqualTo(JobState.RUNNING);
    assertThat(status.attempt()).isEqualTo(1);
    assertThat(status.worker()).isEqualTo(WORKER);
    Instant started = Objects.requireNonNull(status.startedAt());
    assertThat(status.heartbeatAt()).isEqualTo(started);
    assertThat(status.leaseExpiresAt()).isEqualTo(started.plus(LEASE));
    assertThat(queue.heldBy(WORKER)).containsExactly(lease);
    assertThat(queue.heldBy("somebody else")).isEmpty();
  }

  @Test
  void a_claim_never_returns_more_jobs_than_requested() {
    queue.enqueue(jobs(100));
    queue.enqueue(jobs(100).stream().map(job -> job.priority(1)).toList());
    for (int most : new int[] {1, 2, 10, 87}) {
      assertThat(claim(most)).hasSize(most);
    }
    assertThat(count(JobState.RUNNING)).isEqualTo(100);
    assertThat(claim(0)).isEmpty();
    assertThat(claim(1_000)).hasSize(100);
    assertThat(claim(1_000)).isEmpty();
  }

  @Test
  void a_claim_takes_only_from_its_own_queue() {
    add(job().queue("mail"));
    add(job().queue("Default"));
    assertThat(claim(10)).isEmpty();
    assertThat(queue.claim(new ClaimRequest("mail", 10, WORKER, LEASE)).jobs()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void many_workers_get_every_job_and_none_twice(int workers) {
    queue.enqueue(jobs(5_000));
    List<Lease> all =
        Parallel.run(
                workers,
                i ->
                    () -> {
                      List<Lease> mine = new ArrayList<>();
                      List<LeasedJob> claimed;
                      do {
                        claimed =
                            queue
                                .claim(new ClaimRequest(QUEUE, 50, "worker:default:" + i, LEASE))
                                .jobs();
                        claimed.forEach(job -> mine.add(job.lease()));
                      } while (!claimed.isEmpty());
                      return mine;
                    })
            .stream()
            .flatMap(List::stream)
            .toList();
    // A worker that claims while the last rows are locked ends early; no job is claimed twice.
    List<Lease> rest = claim(5_000).stream().map(LeasedJob::lease).toList();
    assertThat(Stream.concat(all.stream(), rest.stream()))
        .hasSize(5_000)
        .doesNotHaveDuplicates()
        .allMatch(lease -> lease.attempt() == 1);
  }

  @Test
  void a_locked_row_is_skipped_not_waited_for() throws SQLException {
    JobId held = add(job());
    JobId free = add(job());
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      Sql.of("SELECT id FROM holdfast.job WHERE id = :job FOR UPDATE")
          .on(connection)
          .set("job", held)
          .list(row -> "");
      assertThat(claim(2)).extracting(LeasedJob::id).containsExactly(free);
      connection.rollback();
    }
    assertThat(claimOne().job()).isEqualTo(held);
  }

  @Test
  void delayed_jobs_of_high_priority_do_not_block_due_ones() {
    queue.enqueue(
        jobs(500).stream().map(job -> job.priority(0).delay(Duration.ofHours(1))).toList());
    JobId due = add(job().priority(9));
    assertThat(claim(10)).extracting(LeasedJob::id).containsExactly(due);
  }

  @Test
  void a_requeued_job_keeps_its_place() {
    List<JobId> ids = queue.enqueue(jobs(3)).stream().map(e -> e.id()).toList();
    queue.settle(new Settlement.Release(claimOne(), false));
    assertThat(claim(3)).extracting(LeasedJob::id).isEqualTo(ids);
  }

  /** Large claims begin where the last one did; an empty claim is repeated from the start. */
  @Test
  void a_requeued_job_is_found_behind_large_claims() {
    for (int i = 0; i < 3; i++) {
      queue.enqueue(jobs(ClaimCursor.LARGE));
    }
    LeasedJob first = claim(ClaimCursor.LARGE).getFirst();
    assertThat(claim(ClaimCursor.LARGE)).hasSize(ClaimCursor.LARGE);
    queue.settle(new Settlement.Release(first.lease(), false));
    List<JobId> left =
        new ArrayList<>(claim(ClaimCursor.LARGE).stream().map(LeasedJob::id).toList());
    // Not sooner than such a claim may be repeated.
    await()
        .until(
            () -> {
              claim(1).forEach(job -> left.add(job.id()));
              return left.size() > ClaimCursor.LARGE;
            });
    assertThat(left).hasSize(ClaimCursor.LARGE + 1).contains(first.id());
  }

  @Test
  void a_claim_of_a_paused_queue_is_empty_until_it_is_resumed() {
    add(job());
    add(job().concurrencyKey("k", 1));
    admin.pause(QUEUE);
    assertThat(queue.claim(new ClaimRequest(QUEUE, 10, WORKER, LEASE))).isEqualTo(Claimed.NOTHING);
    admin.limit(QUEUE, 5);
    assertThat(claim(10)).isEmpty();
    assertThat(admin.resume(QUEUE)).isTrue();
    assertThat(admin.resume(QUEUE)).isFalse();
    assertThat(claim(10)).hasSize(2);
  }

  @Test
  void pausing_a_queue_affects_neither_its_running_jobs_nor_other_queues() {
    Lease lease = running();
    admin.pause(QUEUE);
    assertThat(queue.heartbeat(List.of(lease), LEASE).getFirst().ack()).isEqualTo(Ack.ACCEPTED);
    queue.settle(succeed(lease));
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
    addAndClaim(job().queue("other"));
  }

  @Test
  void an_empty_claim_returns_when_the_next_job_is_due() {
    assertThat(queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).nextDue()).isNull();
    add(job().delay(Duration.ofHours(3)).priority(0));
    add(job().delay(Duration.ofHours(2)).priority(7));
    assertNextDueIn(Duration.ofHours(2));
    add(job().delay(Duration.ofHours(1)).concurrencyKey("k", 1));
    assertNextDueIn(Duration.ofHours(1));
    Lease lease = running();
    queue.settle(new Settlement.Fail(lease, FLAKY, Duration.ofMinutes(30)));
    assertNextDueIn(Duration.ofMinutes(30));
    add(job().queue("other").delay(Duration.ofMinutes(1)));
    assertNextDueIn(Duration.ofMinutes(30));
    add(job());
    assertThat(queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE)).nextDue()).isNull();
  }

  private void assertNextDueIn(Duration expected) {
    Claimed claimed = queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE));
    assertThat(claimed.jobs()).isEmpty();
    assertThat(claimed.nextDue()).isBetween(expected.minusSeconds(30), expected);
  }

  @Test
  void an_empty_claim_returns_no_due_time_for_a_job_whose_concurrency_key_is_full() {
    queue.enqueue(List.of(job().concurrencyKey("k", 1), job().concurrencyKey("k", 1)));
    assertThat(claim(2)).hasSize(1);
    Claimed claimed = queue.claim(new ClaimRequest(QUEUE, 1, WORKER, LEASE));
    assertThat(claimed.jobs()).isEmpty();
    assertThat(claimed.nextDue()).isNull();
  }

  @Test
  void a_due_retry_is_claimed_without_being_promoted_first() {
    Lease first = running();
    queue.settle(new Settlement.Fail(first, FLAKY, Duration.ofHours(1)));
    assertThat(claim(1)).isEmpty();
    comeDue(first.job());
    assertThat(claimOne()).isEqualTo(new Lease(first.job(), 2));
  }

  @Test
  void a_retry_with_a_concurrency_key_is_claimed_when_due() {
    Lease first = addAndClaim(job().concurrencyKey("k", 1));
    queue.settle(fail(first, FLAKY));
    LeasedJob second = claim(1).getFirst();
    assertThat(second.lease()).isEqualTo(new Lease(first.job(), 2));
    assertThat(second.failures()).isEqualTo(1);
  }

  @Test
  void promoting_makes_exactly_the_due_retries_pending() {
    queue.enqueue(jobs(2_100));
    queue.settle(claim(2_100).stream().map(job -> (Settlement) fail(job.lease(), FLAKY)).toList());
    Lease later = running();
    queue.settle(new Settlement.Fail(later, FLAKY, Duration.ofHours(1)));
    assertThat(maintenance.promote()).isEqualTo(2_100);
    assertThat(maintenance.promote()).isZero();
    assertThat(count(JobState.PENDING)).isEqualTo(2_100);
    assertThat(state(later.job())).isEqualTo(JobState.RETRYING);
  }
}
