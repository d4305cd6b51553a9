package dev.holdfast.queue.batch;

import static dev.holdfast.testkit.Soon.SOON;
import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.queue.JobQueueMethods;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.lease.Heartbeat;
import dev.holdfast.queue.recover.Reap;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reaping, cancelling, commands, heartbeats and reports of jobs in a batch. */
class BatchVerbsTest extends BatchFixture {
  @Test
  void a_batch_whose_worker_died_is_reaped_job_by_job() {
    List<Lease> leases = batch(3);
    worker.settle(succeed(leases.get(0)));
    expireClaims();
    assertThat(maintenance.reap(Duration.ZERO).requeued())
        .containsExactlyInAnyOrder(leases.get(1).job(), leases.get(2).job());
    assertThat(claims()).isZero();
    JobStatus lost = status(leases.get(1).job());
    assertThat(lost.state()).isEqualTo(JobState.PENDING);
    assertThat(lost.crashes()).isEqualTo(1);
    assertThat(events(lost.id())).containsExactly("created", "processing", "requeued:stale");
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(worker.heartbeat(List.of(leases.get(1)), LEASE).getFirst().ack())
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(inBatch(5))
        .containsExactlyInAnyOrder(
            new Lease(leases.get(1).job(), 2), new Lease(leases.get(2).job(), 2));
    assertThat(worker.settle(succeed(leases.get(1)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(rows("RUNNING", 2)).isEqualTo(2);
  }

  @Test
  void a_batch_of_a_process_known_to_be_dead_is_reaped_at_once() {
    List<Lease> leases = batch(2);
    assertThat(opened.workers().recovery().recover("here", WORKER, "exit 137").requeued())
        .containsExactlyInAnyOrder(leases.get(0).job(), leases.get(1).job());
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_batch_whose_lease_has_not_expired_is_not_reaped() {
    List<Lease> leases = batch(2);
    db.sql("UPDATE holdfast.claim SET started_at = started_at - interval '1 hour'");
    assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
    // It is materialized by now, with the lease of the claim.
    assertThat(rows("RUNNING", 1)).isEqualTo(2);
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_timeout_ends_a_batch_claimed_job() {
    add(job().timeout(Duration.ofMillis(1)));
    Lease lease = inBatch(1).getFirst();
    db.sql("UPDATE holdfast.claim SET started_at = started_at - interval '1 hour'");
    maintenance.expire();
    assertThat(state(lease.job())).isEqualTo(JobState.RETRYING);
    assertThat(worker.settle(succeed(lease))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_child_that_is_claimed_while_a_cancel_waits_for_its_parent_is_asked_to_stop()
      throws Exception {
    JobId parent = add(job().queue("other"));
    try (ExecutorService pool = Executors.newSingleThreadExecutor();
        Connection holding = db.connection()) {
      holding.setAutoCommit(false);
      try (Statement statement = holding.createStatement()) {
        statement.execute("SELECT FROM holdfast.job WHERE id = '" + parent + "' FOR NO KEY UPDATE");
      }
      Future<List<Cancellation>> cancelled =
          pool.submit(() -> queue.cancel(List.of(parent), true, "enough", Tenant.ANY));
      awaitLockWait();
      JobId child = add(job().parent(parent));
      Lease lease = inBatch(1).getFirst();
      holding.commit();
      assertThat(Parallel.get(cancelled))
          .contains(new Cancellation(child, JobState.RUNNING, Cancellation.Outcome.REQUESTED));
      assertThat(worker.settle(new Settlement.Cancel(lease, null))).isEqualTo(Ack.ACCEPTED);
    }
  }

  @Test
  void cancelling_a_batch_claimed_job_does_not_stop_the_others() {
    List<Lease> leases = batch(3);
    JobId job = leases.get(1).job();
    assertThat(queue.cancel(List.of(job), false, "enough", Tenant.ANY))
        .extracting(Cancellation::previousState, Cancellation::outcome)
        .containsExactly(tuple(JobState.RUNNING, Cancellation.Outcome.REQUESTED));
    assertThat(
            db.count(
                "SELECT round(extract(epoch FROM cancel_deadline - cancel_requested_at))"
                    + " FROM holdfast.job WHERE cancel_deadline IS NOT NULL"))
        .as("the grace period of the worker")
        .isEqualTo(OWN_GRACE.toSeconds());
    assertThat(worker.commands(WORKER))
        .extracting(HeartbeatResult::lease, HeartbeatResult::cancelReason)
        .containsExactly(tuple(leases.get(1), "enough"));
    assertThat(rows("PENDING", 0)).isEqualTo(2);
    assertThat(worker.settle(new Settlement.Cancel(leases.get(1), null))).isEqualTo(Ack.ACCEPTED);
    assertThat(state(job)).isEqualTo(JobState.CANCELLED);
    assertThat(worker.settle(succeed(leases.get(2)))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void an_operators_command_finds_a_batch_claimed_job_running() {
    add(Job.of("test", Map.of("steps", List.of())));
    Lease lease = inBatch(1).getFirst();
    assertThat(
            queue
                .command(
                    lease.job(),
                    new JobCommand(CommandAction.TAKEOVER, null, "ada", "mine"),
                    Tenant.ANY)
                .answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
    assertThat(worker.commands(WORKER)).hasSize(1);
  }

  /**
   * Verbs of jobs that do not run, or that a worker over HTTP holds, for which there are no
   * batches; and those that have tests of their own: here, in BatchSettleTest, EditTest and
   * DeleteTest.
   */
  private static final Set<String> OTHERS =
      Set.of(
          "enqueue",
          "enqueueOnce",
          "retry",
          "claim",
          "complete",
          "undelivered",
          "cancel",
          "command",
          "succeed",
          "edit",
          "delete",
          "decide",
          "fork",
          "startChildren");

  @Test
  void every_method_of_the_queue_that_writes_is_a_verb_here() {
    Set<String> verbs = everyVerb().map(NamedVerb::method).collect(toCollection(TreeSet::new));
    verbs.addAll(OTHERS);
    assertThat(verbs).isEqualTo(JobQueueMethods.writing());
  }

  static Stream<NamedVerb> everyVerb() {
    return Stream.of(
        new NamedVerb("fail", "settle", (q, lease) -> q.settle(fail(lease, FLAKY))),
        new NamedVerb(
            "cancelled", "settle", (q, lease) -> q.settle(new Settlement.Cancel(lease, null))),
        new NamedVerb(
            "snooze",
            "settle",
            (q, lease) -> q.settle(new Settlement.Snooze(lease, Duration.ofHours(1)))),
        new NamedVerb(
            "release", "settle", (q, lease) -> q.settle(new Settlement.Release(lease, false))),
        new NamedVerb("succeed", "settle", (q, lease) -> q.settle(succeed(lease))),
        new NamedVerb(
            "progress",
            "report",
            (q, lease) -> q.report(List.of(new Report.Progress(lease, 10, "x"))).getFirst()),
        new NamedVerb(
            "event",
            "report",
            (q, lease) ->
                q.report(List.of(new Report.Event(lease, "made", new Json("{}")))).getFirst()),
        new NamedVerb(
            "log",
            "report",
            (q, lease) -> q.report(List.of(new Report.Log(lease, 1, "x"))).getFirst()),
        new NamedVerb(
            "log lines",
            "log",
            (q, lease) -> q.log(new LogLines(lease, 1L, List.of("x"), (before, added) -> added))),
        new NamedVerb("step", "report", (q, lease) -> q.report(List.of(step(lease))).getFirst()),
        new NamedVerb(
            "publish",
            "publish",
            (q, lease) ->
                q.publish(
                    new Publication(
                        lease, "store", List.of(new Artifact("a", 1, "0".repeat(64))), null))),
        new NamedVerb(
            "suspend",
            "suspend",
            (q, lease) ->
                q.suspend(new Suspension(lease, 1, new Wait.Sleep("nap", Duration.ofHours(1))))
                        == WaitAnswer.SUSPENDED
                    ? Ack.ACCEPTED
                    : Ack.LEASE_LOST),
        new NamedVerb(
            "signal",
            "signal",
            (q, lease) ->
                q.signal(lease.job(), new SignalToJob("go", new Json("1"), null, ""), Tenant.ANY)
                        == SignalToJob.Answer.ACCEPTED
                    ? Ack.ACCEPTED
                    : Ack.LEASE_LOST),
        new NamedVerb(
            "heartbeat",
            "heartbeat",
            (q, lease) -> q.heartbeat(List.of(lease), LEASE).getFirst().ack()));
  }

  private static Report.Step step(Lease lease) {
    return new Report.Step(
        lease, "one", 1, StepState.RUNNING, 1, false, null, null, null, null, List.of());
  }

  @ParameterizedTest
  @MethodSource("everyVerb")
  void every_verb_treats_a_batch_claimed_job_as_running(NamedVerb named) {
    List<Lease> leases = batch(2);
    assertThat(named.verb().run(worker, leases.get(0))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isEqualTo(1);
    assertThat(events(leases.get(0).job())).startsWith("created", "processing");
    // Also from a process that has not claimed it.
    assertThat(named.verb().run(queue, leases.get(1))).isEqualTo(Ack.ACCEPTED);
    assertThat(rows("PENDING", 0)).isZero();
  }

  @Test
  void a_batch_claimed_job_may_start_others() {
    Lease lease = inBatch();
    assertThat(worker.startChildren(new Children(lease, "c", 1, List.of(job()), 1)))
        .isEqualTo(Ack.ACCEPTED);
    assertThat(rows("RUNNING", 1)).isEqualTo(1);
    assertThat(rows("PENDING", 0)).as("the other").isEqualTo(1);
  }

  @Test
  void a_heartbeat_extends_the_lease_of_a_batch_claimed_job() {
    Lease lease = inBatch();
    Instant until = queries.now().plus(Duration.ofMinutes(50));
    assertThat(worker.heartbeat(List.of(lease), Duration.ofHours(1))).containsExactly(first(lease));
    assertThat(status(lease.job()).leaseExpiresAt()).isAfter(until);
  }

  /** The answer to the first heartbeat of an attempt. */
  private static HeartbeatResult first(Lease lease) {
    return new HeartbeatResult(lease, Ack.ACCEPTED, null, PendingCommand.NONE, false, true);
  }

  @Test
  void a_heartbeat_does_not_wait_for_a_locked_row_and_the_lease_is_kept() throws Exception {
    List<Lease> leases = batch(2);
    try (Connection other = db.dataSource().getConnection()) {
      other.setAutoCommit(false);
      lock(other, leases.get(0).job());
      List<HeartbeatResult> results = worker.heartbeat(leases, LEASE);
      assertThat(results).extracting(HeartbeatResult::ack).containsOnly(Ack.ACCEPTED);
      assertThat(results).extracting(HeartbeatResult::rowLocked).containsExactly(true, false);
      other.rollback();
      other.setAutoCommit(true);
    }
    assertThat(worker.settle(succeed(leases.get(0)))).isEqualTo(Ack.ACCEPTED);
  }

  @Test
  void a_heartbeat_of_an_expired_batch_claim_waits_for_a_locked_row_and_extends_the_lease()
      throws Exception {
    Lease lease = inBatch();
    expireClaims();
    try (Connection other = db.connection()) {
      other.setAutoCommit(false);
      lock(other, lease.job());
      CompletableFuture<HeartbeatResult> beat = heartbeat(lease);
      awaitLockWait();
      other.rollback();
      assertThat(beat.get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(first(lease));
    }
    assertThat(status(lease.job()).leaseExpiresAt()).isAfter(queries.now());
  }

  @Test
  void a_heartbeat_of_an_expired_batch_claim_waits_for_a_reap_and_returns_the_lost_lease()
      throws Exception {
    Lease lease = inBatch();
    expireClaims();
    try (Connection reaper = db.connection()) {
      reaper.setAutoCommit(false);
      MaterializeBatch.old(reaper);
      assertThat(Reap.lost(reaper, Duration.ZERO, 10)).hasSize(1);
      CompletableFuture<HeartbeatResult> beat = heartbeat(lease);
      awaitLockWait();
      reaper.commit();
      assertThat(beat.get(SOON.toSeconds(), TimeUnit.SECONDS))
          .isEqualTo(new HeartbeatResult(lease, Ack.LEASE_LOST, null));
    }
  }

  private static CompletableFuture<HeartbeatResult> heartbeat(Lease lease) {
    return CompletableFuture.supplyAsync(
        () ->
            Database.pooled(db.dataSource(), StatementObserver.NONE, 1)
                .run(
                    "heartbeat",
                    c -> OnConnection.heartbeat(c, Heartbeat.of(List.of(lease), LEASE), SOON))
                .getFirst());
  }

  private static void lock(Connection connection, JobId job) throws SQLException {
    try (var statement =
        connection.prepareStatement("SELECT id FROM holdfast.job WHERE id = ? FOR UPDATE")) {
      statement.setObject(1, job.value());
      assertThat(statement.executeQuery().next()).isTrue();
    }
  }
}
