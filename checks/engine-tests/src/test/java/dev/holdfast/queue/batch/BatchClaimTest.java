package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.JacksonCodec;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Parallel;
import java.sql.Connection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Which jobs a batch claim takes, and what it writes. */
class BatchClaimTest extends BatchFixture {
  @Test
  void a_batch_claim_writes_one_row_and_no_job_rows() {
    batch(5);
    assertThat(claims()).isEqualTo(1);
    assertThat(rows("PENDING", 0)).isEqualTo(5);
    assertThat(inBatch(5)).isEmpty();
    assertThat(claim(5)).isEmpty();
  }

  @Test
  void a_row_by_row_claim_is_followed_by_batch_claims_only_in_a_backlog() {
    try (JobStore usual =
        new JobStore(db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT)) {
      queue.enqueue(jobs(350));
      assertThat(usual.jobs().claim(new ClaimRequest(QUEUE, 99, WORKER, LEASE).inBatches()).jobs())
          .hasSize(99);
      assertThat(usual.jobs().claim(new ClaimRequest(QUEUE, 100, WORKER, LEASE).inBatches()).jobs())
          .hasSize(100);
      assertThat(claims()).isZero();
      assertThat(usual.jobs().claim(new ClaimRequest(QUEUE, 100, WORKER, LEASE).inBatches()).jobs())
          .hasSize(100);
      assertThat(claims()).isEqualTo(1);
      assertThat(rows("RUNNING", 1)).isEqualTo(199);
      assertThat(usual.jobs().claim(new ClaimRequest(QUEUE, 100, WORKER, LEASE)).jobs())
          .hasSize(51);
      assertThat(claims()).isEqualTo(1);
    }
  }

  @Test
  void workers_that_claim_in_batches_and_row_by_row_never_get_the_same_job() {
    int jobs = 1_200;
    queue.enqueue(jobs(jobs));
    Set<JobId> ran = ConcurrentHashMap.newKeySet();
    AtomicInteger done = new AtomicInteger();
    AtomicBoolean stopped = new AtomicBoolean();
    Parallel.run(
        6,
        i ->
            () -> {
              try (JobStore own = batching(db.dataSource(db.url(), 4))) {
                while (done.get() < jobs && !stopped.get()) {
                  List<LeasedJob> claimed =
                      i % 2 == 0
                          ? own.jobs()
                              .claim(
                                  new ClaimRequest(QUEUE, 7 + 10 * i, "w" + i, LEASE).inBatches())
                              .jobs()
                          : own.jobs().claim(new ClaimRequest(QUEUE, 3 + i, "w" + i, LEASE)).jobs();
                  claimed.forEach(job -> assertThat(ran.add(job.id())).isTrue());
                  if (i == 2) {
                    own.queries().statistics(Tenant.ANY);
                  }
                  assertThat(
                          own.jobs()
                              .settle(
                                  claimed.stream()
                                      .map(job -> (Settlement) succeed(job.lease()))
                                      .toList()))
                      .allMatch(Ack.ACCEPTED::equals);
                  done.addAndGet(claimed.size());
                }
                return true;
              } catch (RuntimeException | Error failed) {
                stopped.set(true);
                throw failed;
              }
            });
    assertThat(ran).hasSize(jobs);
    assertThat(rows("SUCCEEDED", 1)).isEqualTo(jobs);
  }

  @Test
  void a_job_in_an_uncommitted_cancel_is_not_claimed_in_a_batch() throws Exception {
    JobId job = add(job());
    JobId other = add(job());
    try (Connection canceller = db.dataSource().getConnection()) {
      canceller.setAutoCommit(false);
      assertThat(OnConnection.cancel(canceller, List.of(job), false)).hasSize(1);
      // It waits a moment for the cancel, and then goes row by row.
      assertThat(inBatch(5)).extracting(Lease::job).containsExactly(other);
      assertThat(claims()).isZero();
      canceller.commit();
      canceller.setAutoCommit(true);
    }
    assertThat(inBatch(5)).isEmpty();
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void jobs_with_a_unique_key_a_deadline_or_an_earlier_attempt_are_materialized() {
    JobId retried = running().job();
    queue.settle(new Settlement.Release(new Lease(retried, 1), false));
    JobId unique = add(job().uniqueKey("one"));
    JobId deadline = add(job().deadline(queries.now().plusSeconds(600)));
    JobId plain = add(job());
    assertThat(inBatch(10))
        .containsExactlyInAnyOrder(
            new Lease(unique, 1),
            new Lease(deadline, 1),
            new Lease(retried, 2),
            new Lease(plain, 1));
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    assertThat(rows("RUNNING", 2)).isEqualTo(1);
    assertThat(db.queryOne(Integer.class, "SELECT cardinality(job_ids) FROM holdfast.claim"))
        .isEqualTo(1);
  }

  @Test
  void batch_claims_go_by_priority_and_due_time() {
    JobId late = add(job().priority(9));
    JobId second = add(job());
    JobId first = add(job().priority(0).uniqueKey("k"));
    assertThat(worker.claim(new ClaimRequest(QUEUE, 2, WORKER, LEASE).inBatches()).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(first, second);
    assertThat(inBatch(2)).extracting(Lease::job).containsExactly(late);
  }

  @Test
  void batch_claimed_jobs_count_towards_a_limit_that_is_set_later() {
    List<Lease> leases = batch(3);
    queue.enqueue(jobs(5));
    admin.limit(QUEUE, 4);
    assertThat(inBatch(10)).hasSize(1);
    assertThat(inBatch(10)).isEmpty();
    worker.settle(succeed(leases.get(0)));
    assertThat(inBatch(10)).hasSize(1);
  }

  @Test
  void batch_claimed_jobs_count_towards_a_limit_after_a_claim_by_rules() {
    admin.limit(QUEUE, 2);
    queue.enqueue(jobs(9));
    assertThat(inBatch(1)).hasSize(1);
    admin.limit(QUEUE, null);
    try (JobStore other = batching(db.dataSource())) {
      assertThat(other.jobs().claim(new ClaimRequest(QUEUE, 3, "other", LEASE).inBatches()).jobs())
          .hasSize(3);
    }
    assertThat(claims()).isEqualTo(1);
    admin.limit(QUEUE, 6);
    // The first worker knows that its last claim went by rules.
    assertThat(inBatch(9)).hasSize(2);
    assertThat(inBatch(9)).isEmpty();
    assertThat(count(JobState.RUNNING)).isEqualTo(6);
  }

  @Test
  void a_suspect_is_not_claimed_by_a_worker_with_a_batch_of_another_queue() {
    JobId suspect = add(job().queue("other"));
    set(suspect, "isolated = true");
    List<Lease> leases = batch(2);
    assertThat(worker.claim(new ClaimRequest("other", 1, WORKER, LEASE)).jobs()).isEmpty();
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    worker.settle(leases.stream().map(lease -> (Settlement) succeed(lease)).toList());
    assertThat(worker.claim(new ClaimRequest("other", 1, WORKER, LEASE)).jobs())
        .extracting(LeasedJob::id)
        .containsExactly(suspect);
  }

  @Test
  void a_claim_over_http_is_not_in_batches_and_a_batch_claim_is_not_marked_as_http() {
    queue.enqueue(jobs(2));
    add(job().uniqueKey("a row of its own"));
    assertThat(worker.claim(new ClaimRequest(QUEUE, 1, "remote", LEASE).remote()).jobs())
        .hasSize(1);
    assertThat(claims()).isZero();
    assertThat(claimedOverHttp("remote")).containsExactly(true);
    assertThat(inBatch(5)).hasSize(2);
    assertThat(claims()).isEqualTo(1);
    assertThat(count(JobState.RUNNING)).isEqualTo(3);
    assertThat(claimedOverHttp(WORKER)).containsExactly(false, false);
  }

  private static List<Object> claimedOverHttp(String name) {
    return db.query("SELECT claimed_over_http FROM holdfast.job WHERE worker_id = ?", name).stream()
        .map(row -> row.get("claimed_over_http"))
        .toList();
  }

  @Test
  void a_job_that_commits_late_is_found_behind_later_claims() throws Exception {
    try (Connection late = db.dataSource().getConnection()) {
      late.setAutoCommit(false);
      JobId job = queue.enqueue(late, jobs(1)).getFirst().id();
      queue.enqueue(jobs(600));
      Set<JobId> claimed = ConcurrentHashMap.newKeySet();
      for (int i = 0; i < 3; i++) {
        inBatch(200).forEach(lease -> claimed.add(lease.job()));
      }
      assertThat(claimed).hasSize(600).doesNotContain(job);
      late.commit();
      late.setAutoCommit(true);
      await().until(() -> inBatch(200).stream().anyMatch(lease -> lease.job().equals(job)));
    }
  }

  @Test
  void a_pause_stops_batch_claims_too() {
    queue.enqueue(jobs(3));
    admin.pause(QUEUE);
    assertThat(inBatch(3)).isEmpty();
    admin.resume(QUEUE);
    assertThat(inBatch(3)).hasSize(3);
  }

  @Test
  void connections_with_stricter_isolation_claim_in_batches_too() {
    String options = "?options=-c%20default_transaction_isolation=repeatable%5C%20read";
    try (JobStore strict = batching(db.dataSource(db.url() + options, 9))) {
      queue.enqueue(jobs(400));
      Set<JobId> ran = ConcurrentHashMap.newKeySet();
      Parallel.run(
          4,
          i ->
              () -> {
                List<LeasedJob> jobs;
                do {
                  jobs =
                      i % 2 == 0
                          ? strict
                              .jobs()
                              .claim(new ClaimRequest(QUEUE, 20, "w" + i, LEASE).inBatches())
                              .jobs()
                          : strict.jobs().claim(new ClaimRequest(QUEUE, 5, "w" + i, LEASE)).jobs();
                  jobs.forEach(job -> assertThat(ran.add(job.id())).isTrue());
                } while (!jobs.isEmpty());
                return true;
              });
      assertThat(ran).hasSize(400);
      assertThat(claims()).isPositive();
    }
  }

  @Test
  void an_unreadable_payload_fails_its_job_and_not_the_batch() {
    add(job());
    JobId broken = add(job());
    // Neither array nor object: the server refuses to convert it to text.
    db.sql("CREATE CAST (bytea AS jsonb) WITHOUT FUNCTION");
    set(broken, "payload = '\\x01000000'::bytea::jsonb");
    assertThat(inBatch(5)).hasSize(1);
    assertThat(state(broken)).isEqualTo(JobState.FAILED);
  }
}
