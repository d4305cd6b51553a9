package dev.holdfast.queue.lease;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.batch.OnConnection;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.recover.Reap;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class HeartbeatTest extends QueueFixture {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private void assertExtended(JobId job, Instant after) {
    JobStatus status = status(job);
    Instant heard = Objects.requireNonNull(status.heartbeatAt());
    assertThat(heard).isAfter(after);
    assertThat(status.leaseExpiresAt()).isEqualTo(heard.plus(MINUTE));
  }

  private Instant databaseNow() {
    return Objects.requireNonNull(db.queryOne(Timestamp.class, "SELECT clock_timestamp()"))
        .toInstant();
  }

  @Test
  void one_heartbeat_extends_all_leases_of_a_worker() {
    queue.enqueue(jobs(50));
    List<Lease> leases = claim(50).stream().map(LeasedJob::lease).toList();
    Instant before = databaseNow();
    assertThat(queue.heartbeat(leases, MINUTE))
        .containsExactlyInAnyOrderElementsOf(
            leases.stream().map(lease -> new HeartbeatResult(lease, Ack.ACCEPTED, null)).toList());
    leases.forEach(lease -> assertExtended(lease.job(), before));
  }

  @Test
  void a_heartbeat_beside_reports_of_the_same_jobs_loses_none() throws Exception {
    queue.enqueue(jobs(20));
    List<Lease> leases = claim(20).stream().map(LeasedJob::lease).toList();
    List<Report> reports =
        leases.stream().<Report>map(lease -> new Report.Progress(lease, 50, "half")).toList();
    AtomicBoolean ended = new AtomicBoolean();
    CompletableFuture<Void> reporting =
        CompletableFuture.runAsync(
            () -> {
              while (!ended.get()) {
                queue.report(reports);
              }
            });
    try {
      for (int i = 0; i < 500; i++) {
        assertThat(queue.heartbeat(leases, MINUTE))
            .allMatch(result -> result.ack() == Ack.ACCEPTED);
      }
    } finally {
      ended.set(true);
    }
    reporting.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void an_expired_lease_that_was_not_reaped_is_extended() {
    Lease lease = running();
    expire(lease);
    Instant before = databaseNow();
    assertThat(queue.heartbeat(List.of(lease), MINUTE).getFirst().ack()).isEqualTo(Ack.ACCEPTED);
    assertExtended(lease.job(), before);
    assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
  }

  @Test
  void one_lost_lease_does_not_affect_the_others() {
    Lease lost = running();
    expire(lost);
    maintenance.reap(Duration.ZERO);
    queue.cancel(List.of(lost.job()), false, "away", Tenant.ANY);
    Lease held = running();
    Lease unknown = new Lease(JobId.next(), 1);
    assertThat(queue.heartbeat(List.of(unknown, held, lost), LEASE))
        .containsExactlyInAnyOrder(
            new HeartbeatResult(held, Ack.ACCEPTED, null),
            new HeartbeatResult(lost, Ack.LEASE_LOST, null),
            new HeartbeatResult(unknown, Ack.LEASE_LOST, null));
  }

  @Test
  void a_job_that_its_handler_is_settling_blocks_no_heartbeat_and_keeps_its_lease()
      throws SQLException {
    Lease settling = running();
    Lease other = running();
    Instant before = databaseNow();
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      assertThat(queue.succeed(connection, succeed(settling))).isEqualTo(Ack.ACCEPTED);

      assertThat(queue.heartbeat(List.of(settling, other), MINUTE))
          .extracting(HeartbeatResult::ack)
          .containsOnly(Ack.ACCEPTED);
      assertExtended(other.job(), before);

      connection.rollback();
    }
    assertThat(state(settling.job())).isEqualTo(JobState.RUNNING);
    queue.heartbeat(List.of(settling), MINUTE);
    assertExtended(settling.job(), before);
  }

  @Test
  void a_job_that_its_handler_is_settling_cannot_be_reaped() throws SQLException {
    Lease settling = running();
    expire(settling);
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.succeed(connection, succeed(settling));
      assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
      connection.commit();
    }
    assertThat(state(settling.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(queue.heartbeat(List.of(settling), LEASE).getFirst().ack())
        .isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_heartbeat_waits_for_a_concurrent_reap_and_returns_the_lost_lease() throws Exception {
    Lease lease = running();
    expire(lease);
    assertThat(besideAReaper(lease, Connection::commit))
        .isEqualTo(new HeartbeatResult(lease, Ack.LEASE_LOST, null));
    assertThat(state(lease.job())).isEqualTo(JobState.PENDING);
  }

  @Test
  void a_heartbeat_extends_the_lease_when_a_concurrent_reap_is_rolled_back() throws Exception {
    Lease lease = running();
    expire(lease);
    Instant before = databaseNow();
    assertThat(besideAReaper(lease, Connection::rollback))
        .isEqualTo(new HeartbeatResult(lease, Ack.ACCEPTED, null));
    assertExtended(lease.job(), before);
  }

  @FunctionalInterface
  private interface Ending {
    void of(Connection connection) throws SQLException;
  }

  private HeartbeatResult besideAReaper(Lease lease, Ending ending) throws Exception {
    try (Connection reaper = db.connection()) {
      reaper.setAutoCommit(false);
      assertThat(Reap.lost(reaper, Duration.ZERO, 10)).hasSize(1);
      CompletableFuture<List<HeartbeatResult>> beat =
          CompletableFuture.supplyAsync(
              () ->
                  Database.pooled(db.dataSource(), StatementObserver.NONE, 1)
                      .run(
                          "heartbeat",
                          c ->
                              OnConnection.heartbeat(
                                  c, Heartbeat.of(List.of(lease), MINUTE), SOON)));
      awaitLockWait();
      ending.of(reaper);
      return beat.get(SOON.toSeconds(), TimeUnit.SECONDS).getFirst();
    }
  }

  @Test
  void a_heartbeat_does_not_wait_for_a_settle_that_outlasts_the_lease() throws SQLException {
    Lease settling = running();
    expire(settling);
    Lease other = running();
    Instant before = databaseNow();
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      queue.succeed(connection, succeed(settling));
      assertThat(queue.heartbeat(List.of(settling, other), MINUTE))
          .containsExactlyInAnyOrder(
              new HeartbeatResult(settling, Ack.ACCEPTED, null, PendingCommand.NONE, true, false),
              new HeartbeatResult(other, Ack.ACCEPTED, null));
      assertExtended(other.job(), before);
      connection.commit();
    }
  }

  @Test
  void a_heartbeat_returns_the_reason_of_a_cancellation() {
    Lease lease = running();
    Lease other = running();
    queue.cancel(List.of(lease.job()), false, "not needed any more", Tenant.ANY);
    assertThat(queue.heartbeat(List.of(lease, other), LEASE))
        .containsExactlyInAnyOrder(
            new HeartbeatResult(
                lease, Ack.ACCEPTED, "not needed any more", PendingCommand.NONE, false, true),
            new HeartbeatResult(other, Ack.ACCEPTED, null));
    // Only the first heartbeat of an attempt says that none came before.
    assertThat(queue.heartbeat(List.of(lease), LEASE))
        .containsExactly(new HeartbeatResult(lease, Ack.ACCEPTED, "not needed any more"));
  }

  @Test
  void a_worker_can_query_which_of_its_jobs_are_being_cancelled() {
    Lease lease = running();
    running();
    assertThat(queue.commands(WORKER)).isEmpty();
    queue.cancel(List.of(lease.job()), false, "stop", Tenant.ANY);
    assertThat(queue.commands(WORKER))
        .containsExactly(new HeartbeatResult(lease, Ack.ACCEPTED, "stop"));
    assertThat(queue.commands("another")).isEmpty();
    queue.settle(new Settlement.Cancel(lease, null));
    assertThat(queue.commands(WORKER)).isEmpty();
  }

  @Test
  void a_heartbeat_touches_no_index() throws SQLException {
    Lease lease = running();
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 10; i++) {
        OnConnection.heartbeat(connection, List.of(lease), LEASE);
      }
      assertThat(
              Sql.of(
                      "SELECT n_tup_upd AS updated, n_tup_hot_upd AS hot"
                          + " FROM pg_stat_xact_user_tables WHERE relid = 'holdfast.job'::regclass")
                  .on(connection)
                  .list(row -> row.getLong("updated") + "/" + row.getLong("hot")))
          .containsExactly("10/10");
      connection.rollback();
    }
  }

  @Test
  void heartbeats_of_many_workers_touch_no_index() throws SQLException {
    queue.enqueue(jobs(1_000));
    List<List<Lease>> workers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      workers.add(
          queue.claim(new ClaimRequest(QUEUE, 25, "w" + i, LEASE)).jobs().stream()
              .map(LeasedJob::lease)
              .toList());
    }
    long hot = 0;
    for (int beat = 0; beat < 10; beat++) {
      for (List<Lease> leases : workers) {
        hot += hotUpdatesOf(leases);
      }
    }
    assertThat(hot).isGreaterThan(500 * 10 * 8 / 10);
  }

  private long hotUpdatesOf(List<Lease> leases) throws SQLException {
    try (Connection connection = db.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      OnConnection.heartbeat(connection, leases, LEASE);
      long hot =
          Sql.of(
                  "SELECT n_tup_hot_upd AS hot"
                      + " FROM pg_stat_xact_user_tables WHERE relid = 'holdfast.job'::regclass")
              .on(connection)
              .only(row -> row.getLong("hot"));
      connection.commit();
      return hot;
    }
  }

  @Test
  void a_heartbeat_after_its_connection_died_opens_a_new_one() {
    Lease lease = running();
    queue.heartbeat(List.of(lease), LEASE);
    db.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = ? AND pid <> pg_backend_pid()",
        db.name());
    assertThat(queue.heartbeat(List.of(lease), LEASE).getFirst().ack()).isEqualTo(Ack.ACCEPTED);
  }
}
