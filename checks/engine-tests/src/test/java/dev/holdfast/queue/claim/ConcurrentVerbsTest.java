package dev.holdfast.queue.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Cancellation.Outcome;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Parallel;
import dev.holdfast.queue.QueueFixture;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.report.AppendEvents;
import dev.holdfast.queue.settle.Fail;
import dev.holdfast.queue.settle.ReleaseAttempts;
import dev.holdfast.queue.settle.Succeed;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two verbs want the same job at the same moment. The second one has looked at the job before the
 * first one is done with it, waits for its lock, and must then act on what the first one has left.
 */
class ConcurrentVerbsTest extends QueueFixture {
  private Outcome cancelAfter(JobId job, First first) throws SQLException {
    return after(
        first, () -> queue.cancel(List.of(job), true, "stop", Tenant.ANY).getFirst().outcome());
  }

  private static void claim(Connection connection) throws SQLException {
    ClaimRequest request = new ClaimRequest(QUEUE, 1, WORKER, LEASE);
    assertThat(
            new ClaimByRules()
                .takePage(
                    connection,
                    RulesSnapshot.lockAndRead(
                        connection, request, RulesSnapshot.Key.FIRST, RulesSnapshot.Key.FIRST, 1),
                    request,
                    true,
                    RulesSnapshot.Key.FIRST)
                .jobs())
        .hasSize(1);
  }

  @Test
  void cancelling_a_job_that_is_being_claimed_requests_its_cancellation() throws SQLException {
    JobId job = add(job());
    assertThat(cancelAfter(job, ConcurrentVerbsTest::claim)).isEqualTo(Outcome.REQUESTED);
    assertThat(state(job)).isEqualTo(JobState.RUNNING);
    assertThat(events(job)).containsExactly("created", "processing", "cancel:requested");
    assertThat(queue.commands(WORKER)).hasSize(1);
  }

  @Test
  void cancelling_a_job_that_is_being_finished_comes_too_late() throws SQLException {
    Lease lease = running();
    assertThat(cancelAfter(lease.job(), c -> Succeed.all(c, List.of(succeed(lease)))))
        .isEqualTo(Outcome.ALREADY_TERMINAL);
    assertThat(events(lease.job())).containsExactly("created", "processing", "done");
  }

  @Test
  void cancelling_a_job_that_is_being_released_cancels_it() throws SQLException {
    Lease lease = running();
    assertThat(
            cancelAfter(
                lease.job(),
                c -> ReleaseAttempts.released(c, List.of(new Settlement.Release(lease, true)))))
        .isEqualTo(Outcome.CANCELLED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "aborted:shutdown", "cancelled");
  }

  @Test
  void cancelling_a_job_that_is_being_reaped_cancels_it() throws SQLException {
    Lease lease = running();
    expire(lease);
    assertThat(cancelAfter(lease.job(), c -> Reap.lost(c, Duration.ZERO, 10)))
        .isEqualTo(Outcome.CANCELLED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void cancelling_a_job_that_an_operator_is_retrying_cancels_it_again() throws SQLException {
    Lease lease = running();
    queue.settle(fail(lease, HOPELESS));
    assertThat(cancelAfter(lease.job(), c -> Retry.all(c, List.of(lease.job()), Tenant.ANY)))
        .isEqualTo(Outcome.CANCELLED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "failed", "retried", "cancelled");
  }

  @Test
  void cancelling_a_job_that_is_being_cancelled_changes_nothing() throws SQLException {
    Lease lease = running();
    assertThat(cancelAfter(lease.job(), c -> Cancel.of(c, List.of(lease.job()), "first")))
        .isEqualTo(Outcome.ALREADY_REQUESTED);
    assertThat(status(lease.job()).cancelReason()).isEqualTo("first");
  }

  @Test
  void cancelling_a_job_that_makes_progress_keeps_the_events_in_order() throws SQLException {
    Lease lease = running();
    First reports =
        c ->
            AppendEvents.all(
                c,
                List.of(
                    new Report.Event(lease, "a", Json.EMPTY),
                    new Report.Event(lease, "b", Json.EMPTY)));
    assertThat(cancelAfter(lease.job(), reports)).isEqualTo(Outcome.REQUESTED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "a", "b", "cancel:requested");
  }

  @Test
  void a_job_that_fails_while_it_is_being_cancelled_is_not_requeued() throws SQLException {
    Lease lease = running();
    Ack ack =
        after(
            c -> Cancel.of(c, List.of(lease.job()), "stop"),
            () -> queue.settle(fail(lease, FLAKY)));
    assertThat(ack).isEqualTo(Ack.ACCEPTED);
    assertThat(state(lease.job())).isEqualTo(JobState.CANCELLED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "cancel:requested", "cancelled");
  }

  @Test
  void a_job_that_succeeds_while_it_is_being_cancelled_is_succeeded() throws SQLException {
    Lease lease = running();
    Ack ack =
        after(c -> Cancel.of(c, List.of(lease.job()), "stop"), () -> queue.settle(succeed(lease)));
    assertThat(ack).isEqualTo(Ack.ACCEPTED);
    assertThat(events(lease.job()))
        .containsExactly("created", "processing", "cancel:requested", "done");
  }

  @Test
  void settling_a_job_that_is_being_reaped_comes_too_late() throws SQLException {
    for (Settlement late :
        List.of(
            succeed(running()),
            fail(running(), FLAKY),
            new Settlement.Cancel(running(), null),
            new Settlement.Release(running(), false))) {
      expire(late.lease());
      Ack ack = after(c -> Reap.lost(c, Duration.ZERO, 10), () -> queue.settle(late));
      assertThat(ack).isEqualTo(Ack.LEASE_LOST);
      assertThat(state(late.lease().job())).isEqualTo(JobState.PENDING);
    }
  }

  @Test
  void settling_a_job_that_was_reaped_and_claimed_again_comes_too_late() throws SQLException {
    Lease lease = running();
    expire(lease);
    First reapAndClaim =
        c -> {
          Reap.lost(c, Duration.ZERO, 10);
          claim(c);
        };
    assertThat(after(reapAndClaim, () -> queue.settle(succeed(lease)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(status(lease.job()).attempt()).isEqualTo(2);
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void reporting_while_the_job_is_being_settled_comes_too_late() throws SQLException {
    Lease lease = running();
    List<Ack> acks =
        after(
            c -> Succeed.all(c, List.of(succeed(lease))),
            () -> queue.report(List.of(new Report.Progress(lease, 99, null))));
    assertThat(acks).containsExactly(Ack.LEASE_LOST);
    assertThat(events(lease.job())).containsExactly("created", "processing", "done");
  }

  @Test
  void two_concurrent_equal_settles_are_both_accepted_and_count_once() throws SQLException {
    Lease lease = running();
    Settlement.Fail failed = fail(lease, FLAKY);
    assertThat(after(c -> Fail.all(c, BACKOFF, List.of(failed)), () -> queue.settle(failed)))
        .isEqualTo(Ack.ACCEPTED);
    assertThat(status(lease.job()).failures()).isEqualTo(1);
    assertThat(queries.attempts(lease.job())).hasSize(1);
  }

  @Test
  void two_concurrent_retries_by_operators_retry_the_job_once() throws SQLException {
    Lease lease = running();
    queue.settle(fail(lease, HOPELESS));
    Set<JobId> second =
        after(
            c -> Retry.all(c, List.of(lease.job()), Tenant.ANY),
            () -> queue.retry(List.of(lease.job()), Tenant.ANY));
    assertThat(second).isEmpty();
    assertThat(events(lease.job())).containsExactly("created", "processing", "failed", "retried");
  }

  /** A verb on many jobs, given in the order of these leases. */
  @FunctionalInterface
  interface Batch {
    void on(Connection connection, List<Lease> leases) throws SQLException;
  }

  record Named(String name, Batch batch) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Named> batches() {
    return Stream.of(
        new Named(
            "cancel",
            (connection, leases) ->
                Cancel.of(connection, leases.stream().map(Lease::job).toList(), "stop")),
        new Named(
            "succeed",
            (connection, leases) ->
                Succeed.all(connection, leases.stream().map(QueueFixture::succeed).toList())),
        new Named(
            "fail",
            (connection, leases) ->
                Fail.all(
                    connection,
                    BACKOFF,
                    leases.stream().map(lease -> fail(lease, FLAKY)).toList())),
        new Named(
            "release",
            (connection, leases) ->
                ReleaseAttempts.released(
                    connection,
                    leases.stream().map(lease -> new Settlement.Release(lease, false)).toList())));
  }

  /** Or a bulk cancel and a batch of settles, each with rows that the other one wants, deadlock. */
  @ParameterizedTest
  @MethodSource("batches")
  void a_batch_locks_its_first_row_before_any_other(Named verb) throws SQLException {
    // They lie in the table in the opposite order, or reading it from its beginning would do.
    jobs(20).reversed().forEach(this::add);
    List<Lease> back =
        claim(20).stream()
            .map(LeasedJob::lease)
            .sorted(Comparator.comparing(Lease::job).reversed())
            .toList();
    try (ExecutorService pool = Executors.newSingleThreadExecutor();
        Connection first = db.connection();
        Connection second = db.connection()) {
      first.setAutoCommit(false);
      lockNow(first, back.getLast());
      Future<Boolean> waiting =
          pool.submit(
              () -> {
                verb.batch.on(second, back);
                return true;
              });
      awaitLockWait();
      for (Lease lease : back) {
        lockNow(first, lease);
      }
      first.commit();
      assertThat(Parallel.get(waiting)).isTrue();
    }
  }

  /** Throws when another transaction holds the lock. */
  private static void lockNow(Connection connection, Lease lease) throws SQLException {
    Sql.of("SELECT id FROM holdfast.job WHERE id = :job FOR NO KEY UPDATE NOWAIT")
        .on(connection)
        .set("job", lease.job())
        .list(row -> "");
  }
}
