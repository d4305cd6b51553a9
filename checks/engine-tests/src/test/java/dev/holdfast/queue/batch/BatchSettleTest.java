package dev.holdfast.queue.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Successes of jobs in a batch, and their other endings. */
class BatchSettleTest extends BatchFixture {
  @Test
  void a_success_writes_the_job_row_once_with_the_data_of_the_claim() {
    Instant before = queries.now();
    List<Lease> leases = batch(3);
    Instant after = queries.now();
    List<Settlement> settlements =
        leases.stream().map(lease -> (Settlement) succeed(lease)).toList();
    assertThat(worker.settle(settlements)).containsOnly(Ack.ACCEPTED).hasSize(3);
    JobStatus job = status(leases.get(1).job());
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.worker()).isEqualTo(WORKER);
    assertThat(job.result()).isEqualTo(new Json("{\"ok\": true}"));
    assertThat(job.startedAt()).isBetween(before, after);
    assertThat(job.finishedAt()).isAfter(after);
    assertThat(events(job.id())).containsExactly("created", "processing", "done");
    assertThat(db.count("SELECT count(*) FROM public.seen WHERE transition = 'PENDING>RUNNING'"))
        .isEqualTo(3);
    // Sent again, as after a lost answer.
    assertThat(worker.settle(settlements)).containsOnly(Ack.ACCEPTED);
    assertThat(events(job.id())).hasSize(3);
  }

  @Test
  void each_result_is_written_to_its_own_row_also_from_several_claims() {
    queue.enqueue(jobs(60));
    List<Lease> leases =
        Stream.of("a", "b", "c")
            .flatMap(
                name ->
                    worker
                        .claim(new ClaimRequest(QUEUE, 20, name, LEASE).inBatches())
                        .jobs()
                        .stream())
            .map(LeasedJob::lease)
            .toList();
    worker.settle(
        leases.stream()
            .map(
                lease ->
                    (Settlement) new Settlement.Succeed(lease, new Json("\"" + lease.job() + "\"")))
            .toList());
    for (int i = 0; i < 60; i++) {
      JobStatus job = status(leases.get(i).job());
      assertThat(job.result()).isEqualTo(new Json("\"" + job.id() + "\""));
      assertThat(job.worker()).isEqualTo(List.of("a", "b", "c").get(i / 20));
    }
  }

  @Test
  void a_claim_row_is_kept_until_all_of_its_jobs_are_settled() {
    List<Lease> leases = batch(3);
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
    assertThat(claims()).isEqualTo(1);
    assertThat(rows("PENDING", 0)).isEqualTo(2);
    assertThat(inBatch(5)).isEmpty();
    assertThat(worker.settle(fail(leases.get(1), HOPELESS))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
    assertThat(worker.settle(succeed(leases.get(2)))).isEqualTo(Ack.ACCEPTED);
    worker.settle(succeed(inBatch()));
    assertThat(db.count("SELECT count(*) FROM holdfast.claim WHERE cardinality(job_ids) = 3"))
        .isZero();
    expireClaims();
    maintenance.reap(Duration.ZERO);
    assertThat(claims()).isZero();
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(3);
  }

  @Test
  void a_released_job_of_a_batch_can_be_claimed_while_the_others_run() {
    List<Lease> leases = batch(3);
    worker.settle(new Settlement.Release(leases.get(0), false));
    worker.settle(new Settlement.Release(leases.get(1), false));
    assertThat(inBatch(1)).hasSize(1).first().extracting(Lease::attempt).isEqualTo(2);
    assertThat(claim(5)).hasSize(1).first().extracting(job -> job.lease().attempt()).isEqualTo(2);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
  }

  @Test
  void deleting_a_claim_row_keeps_its_unsettled_jobs_running() {
    List<Lease> leases = batch(2);
    worker.settle(succeed(leases.get(0)));
    assertThat(queries.statistics(Tenant.ANY).byState())
        .containsEntry(JobState.RUNNING, 1L)
        .containsEntry(JobState.SUCCEEDED, 1L);
    assertThat(claims()).isZero();
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.ACCEPTED);
    assertThat(count(JobState.SUCCEEDED)).isEqualTo(2);
  }

  @Test
  void settled_in_the_callers_transaction_a_job_is_running_for_others_until_the_commit()
      throws Exception {
    List<Lease> leases = batch(2);
    try (Connection own = db.dataSource().getConnection()) {
      own.setAutoCommit(false);
      assertThat(worker.succeed(own, succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
      assertThat(state(leases.get(0).job())).isEqualTo(JobState.RUNNING);
      own.rollback();
      assertThat(state(leases.get(0).job())).isEqualTo(JobState.RUNNING);
      assertThat(worker.succeed(own, succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
      own.commit();
      own.setAutoCommit(true);
    }
    assertThat(state(leases.get(0).job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
  }

  @Test
  void a_callers_transaction_with_a_snapshot_settles_a_batch_claimed_job() throws Exception {
    Lease lease = inBatch();
    try (Connection own = db.dataSource().getConnection()) {
      own.setAutoCommit(false);
      own.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (var statement = own.createStatement()) {
        statement.execute("SELECT count(*) FROM holdfast.job");
      }
      assertThat(worker.succeed(own, succeed(lease))).isEqualTo(Ack.ACCEPTED);
      own.commit();
      own.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      own.setAutoCommit(true);
    }
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(events(lease.job())).containsExactly("created", "processing", "done");
  }

  @Test
  void the_first_of_several_settlements_of_a_batch_claimed_job_counts() {
    List<Lease> leases = batch(2);
    assertThat(
            worker.settle(
                List.of(
                    fail(leases.get(0), HOPELESS),
                    succeed(leases.get(0)),
                    succeed(leases.get(1)),
                    fail(leases.get(1), HOPELESS))))
        .containsExactly(Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED, Ack.LEASE_LOST);
    assertThat(state(leases.get(0).job())).isEqualTo(JobState.FAILED);
    assertThat(state(leases.get(1).job())).isEqualTo(JobState.SUCCEEDED);
  }
}
