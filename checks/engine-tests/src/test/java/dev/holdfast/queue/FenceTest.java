package dev.holdfast.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The attempt is the fence: what a worker writes counts only while it holds that attempt. */
class FenceTest extends QueueFixture {
  /** One way to end an attempt. */
  @FunctionalInterface
  interface Settling {
    Settlement of(Lease lease);
  }

  record Named(String name, Settling settling) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Named> everyEnding() {
    return Stream.of(
        new Named("succeed", QueueFixture::succeed),
        new Named("continue", lease -> new Settlement.Continue(lease, new Json("{\"turn\": 2}"))),
        new Named("fail, retryable", lease -> fail(lease, FLAKY)),
        new Named("fail, for good", lease -> fail(lease, HOPELESS)),
        new Named("cancelled", lease -> new Settlement.Cancel(lease, new Json("{\"did\": 3}"))),
        new Named("snooze", lease -> new Settlement.Snooze(lease, Duration.ofMinutes(1))),
        new Named("release", lease -> new Settlement.Release(lease, false)),
        new Named("abort", lease -> new Settlement.Release(lease, true)));
  }

  /** A lost lease: its job was requeued and runs again in another worker. */
  private Lease stale() {
    Lease lease = running();
    expire(lease);
    maintenance.reap(Duration.ZERO);
    assertThat(claimOne()).isEqualTo(new Lease(lease.job(), 2));
    return lease;
  }

  @ParameterizedTest
  @MethodSource("everyEnding")
  void a_worker_that_lost_its_lease_cannot_settle_the_job(Named ending) {
    Lease stale = stale();
    String before = row(stale.job());
    assertThat(queue.settle(ending.settling.of(stale))).isEqualTo(Ack.LEASE_LOST);
    assertThat(row(stale.job())).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("everyEnding")
  void a_worker_whose_job_was_reaped_and_not_yet_claimed_again_cannot_settle_it(Named ending) {
    Lease lease = running();
    expire(lease);
    maintenance.reap(Duration.ZERO);
    String before = row(lease.job());
    assertThat(queue.settle(ending.settling.of(lease))).isEqualTo(Ack.LEASE_LOST);
    assertThat(row(lease.job())).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("everyEnding")
  void a_settle_repeated_after_a_lost_response_is_accepted_and_changes_nothing(Named ending) {
    Lease lease = running();
    Settlement settlement = ending.settling.of(lease);
    assertThat(queue.settle(settlement)).isEqualTo(Ack.ACCEPTED);
    String before = row(lease.job());
    assertThat(queue.settle(settlement)).isEqualTo(Ack.ACCEPTED);
    assertThat(row(lease.job())).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("everyEnding")
  void a_different_second_settle_is_refused_and_changes_nothing(Named first) {
    everyEnding()
        .filter(second -> !second.name.equals(first.name))
        // A release is a release, whatever the reason the worker gives for it.
        .filter(second -> !(isRelease(first) && isRelease(second)))
        .forEach(
            second -> {
              Lease lease = addAndClaim(job().queue("q" + job().id()));
              assertThat(queue.settle(first.settling.of(lease))).isEqualTo(Ack.ACCEPTED);
              String before = row(lease.job());
              assertThat(queue.settle(second.settling.of(lease)))
                  .as("%s after %s", second, first)
                  .isEqualTo(Ack.LEASE_LOST);
              assertThat(row(lease.job())).isEqualTo(before);
            });
  }

  private static boolean isRelease(Named ending) {
    return ending.settling.of(new Lease(job().id(), 1)) instanceof Settlement.Release;
  }

  @Test
  void a_worker_that_lost_its_lease_cannot_extend_it() {
    Lease stale = stale();
    String before = row(stale.job());
    assertThat(queue.heartbeat(List.of(stale), LEASE))
        .containsExactly(new HeartbeatResult(stale, Ack.LEASE_LOST, null));
    assertThat(row(stale.job())).isEqualTo(before);
  }

  @Test
  void a_worker_that_lost_its_lease_cannot_report_events() {
    Lease stale = stale();
    String before = row(stale.job());
    assertThat(
            queue.report(
                List.of(
                    new Report.Progress(stale, 50, "half"),
                    new Report.Event(stale, "note", Json.EMPTY))))
        .containsExactly(Ack.LEASE_LOST, Ack.LEASE_LOST);
    assertThat(row(stale.job())).isEqualTo(before);
  }

  @Test
  void a_worker_that_lost_its_lease_cannot_publish_artifacts() {
    Lease stale = stale();
    String before = row(stale.job());
    Artifact artifact = new Artifact("out.bin", 3, "0123456789abcdef".repeat(4));
    assertThat(queue.publish(new Publication(stale, "shared", List.of(artifact), null)))
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(queries.artifacts(stale.job())).isEmpty();
    assertThat(row(stale.job())).isEqualTo(before);
  }

  @Test
  void a_worker_that_lost_its_lease_cannot_succeed_in_its_own_transaction() throws SQLException {
    Lease stale = stale();
    String before = row(stale.job());
    try (Connection connection = db.connection()) {
      connection.setAutoCommit(false);
      assertThat(queue.succeed(connection, succeed(stale))).isEqualTo(Ack.LEASE_LOST);
      connection.commit();
    }
    assertThat(row(stale.job())).isEqualTo(before);
    assertThat(queue.succeeded(stale)).isFalse();
  }

  @Test
  void an_attempt_that_was_never_claimed_has_no_lease() {
    Lease lease = running();
    Lease invented = new Lease(lease.job(), 2);
    assertThat(queue.settle(succeed(invented))).isEqualTo(Ack.LEASE_LOST);
    assertThat(queue.heartbeat(List.of(invented), LEASE).getFirst().ack())
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(queue.settle(succeed(new Lease(job().id(), 1)))).isEqualTo(Ack.LEASE_LOST);
    assertThat(state(lease.job())).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_job_that_succeeds_before_it_is_reaped_is_succeeded() {
    Lease lease = running();
    expire(lease);
    assertThat(queue.settle(succeed(lease))).isEqualTo(Ack.ACCEPTED);
    assertThat(maintenance.reap(Duration.ZERO).requeued()).isEmpty();
    assertThat(state(lease.job())).isEqualTo(JobState.SUCCEEDED);
    assertThat(queue.succeeded(lease)).isTrue();
  }

  @Test
  void a_late_failure_is_not_mistaken_for_the_timeout_that_ended_the_attempt() {
    Lease lease = addAndClaim(job().timeout(Duration.ofMillis(1)));
    set(lease.job(), "started_at = now() - interval '1 hour'");
    maintenance.expire();
    assertThat(queue.settle(fail(lease, FLAKY))).isEqualTo(Ack.LEASE_LOST);
  }

  @Test
  void a_batch_settle_returns_one_result_per_settlement_in_order() {
    queue.enqueue(jobs(5));
    List<Lease> leases = claim(5).stream().map(job -> job.lease()).toList();
    Lease lost = leases.get(2);
    expire(lost);
    maintenance.reap(Duration.ZERO);
    assertThat(
            queue.settle(
                List.of(
                    new Settlement.Release(leases.get(4), false),
                    succeed(lost),
                    succeed(leases.get(0)),
                    fail(leases.get(1), HOPELESS),
                    new Settlement.Cancel(leases.get(3), null))))
        .containsExactly(Ack.ACCEPTED, Ack.LEASE_LOST, Ack.ACCEPTED, Ack.ACCEPTED, Ack.ACCEPTED);
    assertThat(leases.stream().map(lease -> state(lease.job())))
        .containsExactly(
            JobState.SUCCEEDED,
            JobState.FAILED,
            JobState.PENDING,
            JobState.CANCELLED,
            JobState.PENDING);
  }

  @Test
  void an_attempt_settled_twice_in_one_batch_is_settled_once() {
    Lease once = running();
    Settlement.Fail failed = fail(once, FLAKY);
    assertThat(queue.settle(List.of(failed, failed, succeed(once))))
        .as("the first one counts, and a repeated one gets the same result")
        .containsExactly(Ack.ACCEPTED, Ack.ACCEPTED, Ack.LEASE_LOST);
    assertThat(state(once.job())).isEqualTo(JobState.RETRYING);

    Lease other = running();
    Settlement.Fail again = fail(other, FLAKY);
    assertThat(queue.settle(List.of(again, again))).containsExactly(Ack.ACCEPTED, Ack.ACCEPTED);
    assertThat(queries.attempts(other.job())).hasSize(1);
    assertThat(status(other.job()).failures()).isEqualTo(1);
  }

  @Test
  void an_empty_batch_returns_an_empty_list() {
    assertThat(queue.settle(List.of())).isEmpty();
    assertThat(queue.report(List.of())).isEmpty();
    assertThat(queue.heartbeat(List.of(), LEASE)).isEmpty();
    assertThat(queue.retry(List.of(), Tenant.ANY)).isEmpty();
    assertThat(queue.enqueue(List.of())).isEmpty();
  }

  @Test
  void concurrent_succeed_and_reap_have_one_winner() {
    JobStore reaper = another();
    for (int round = 0; round < 100; round++) {
      Lease lease = running();
      expire(lease);
      List<Boolean> won =
          Parallel.run(
              2,
              i ->
                  () ->
                      i == 0
                          ? queue.settle(succeed(lease)) == Ack.ACCEPTED
                          : !reaper.maintenance().reap(Duration.ZERO).requeued().isEmpty());
      assertThat(won.get(0)).isNotEqualTo(won.get(1));
      assertThat(state(lease.job())).isEqualTo(won.get(0) ? JobState.SUCCEEDED : JobState.PENDING);
      queue.cancel(List.of(lease.job()), false, "next round", Tenant.ANY);
    }
  }
}
