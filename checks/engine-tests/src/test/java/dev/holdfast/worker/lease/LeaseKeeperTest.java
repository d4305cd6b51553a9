package dev.holdfast.worker.lease;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.attempt.TestHost;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest {
  private static final Timings TIMINGS = Timings.every(Duration.ofSeconds(10));

  private final ManualNanos nanos = new ManualNanos();
  private final MemorySource source = new MemorySource();
  private final TestHost host = new TestHost(source);
  private final Slots slots = new Slots(10, () -> {});
  private final Metrics metrics = new Metrics();
  private final LeaseKeeper keeper =
      new LeaseKeeper(source, slots, TIMINGS, "worker:default:0@test", metrics, nanos);
  private CapturedLog log;

  @BeforeEach
  void capture() {
    log = CapturedLog.of(LeaseKeeper.class);
  }

  @AfterEach
  void close() {
    log.close();
    host.outbox.close();
  }

  private AttemptExecutor running() {
    AttemptExecutor run = host.run(Samples.job(), (payload, context) -> null);
    slots.add(run);
    return run;
  }

  private void fail(int times) {
    source.unavailable = true;
    for (int i = 0; i < times; i++) {
      assertThat(keeper.beat()).isLessThan(TIMINGS.heartbeat().dividedBy(3));
    }
  }

  @Test
  void all_jobs_are_in_one_heartbeat() {
    running();
    running();
    assertThat(keeper.beat()).isEqualTo(TIMINGS.heartbeat());
    assertThat(source.calls).containsExactly("heartbeat");
    assertThat(metrics.value(Metrics.HEARTBEATS)).isEqualTo(2);
  }

  @Test
  void without_jobs_no_heartbeat_is_sent() {
    keeper.beat();
    keeper.pollCommands();
    assertThat(source.calls).isEmpty();
  }

  @Test
  void an_answered_heartbeat_extends_the_lease_from_when_it_was_sent() {
    AttemptExecutor run = running();
    long sent = nanos.getAsLong();
    source.before = verb -> nanos.advance(Duration.ofSeconds(3));
    keeper.beat();
    assertThat(run.leaseFrom()).isEqualTo(sent);
  }

  @Test
  void a_failed_heartbeat_does_not_extend_the_lease() {
    AttemptExecutor run = running();
    run.extended(7);
    fail(1);
    assertThat(run.leaseFrom()).isEqualTo(7);
  }

  @Test
  void three_failures_in_a_row_are_tolerated() {
    running();
    fail(3);
    assertThat(log.lines(Level.WARN)).isEmpty();
  }

  @Test
  void the_fourth_failure_logs_one_warning_and_the_recovery_one_notice() {
    running();
    fail(20);
    assertThat(log.lines(Level.WARN))
        .singleElement()
        .asString()
        .startsWith("HEARTBEAT_DEGRADED: 4 heartbeats in a row failed for 1 job;");
    source.unavailable = false;
    keeper.beat();
    keeper.beat();
    assertThat(log.lines(Level.INFO))
        .filteredOn(line -> line.startsWith("HEARTBEAT_RECOVERED"))
        .singleElement()
        .asString()
        .contains("after 20 failures");
  }

  @Test
  void each_outage_has_its_own_warning() {
    running();
    fail(4);
    source.unavailable = false;
    keeper.beat();
    fail(4);
    assertThat(log.lines(Level.WARN)).hasSize(2);
  }

  @Test
  void a_success_in_between_starts_the_count_again() {
    running();
    fail(3);
    source.unavailable = false;
    keeper.beat();
    fail(3);
    assertThat(log.lines(Level.WARN)).isEmpty();
    assertThat(log.lines(Level.INFO)).noneMatch(line -> line.startsWith("HEARTBEAT_RECOVERED"));
  }

  @Test
  void a_heartbeat_that_hangs_counts_as_every_heartbeat_it_delays() {
    running();
    source.before = verb -> nanos.advance(TIMINGS.heartbeat().multipliedBy(2));
    fail(1);
    assertThat(log.lines(Level.WARN)).isEmpty();
    fail(1);
    assertThat(log.lines(Level.WARN))
        .singleElement()
        .asString()
        .startsWith("HEARTBEAT_DEGRADED: 4 heartbeats");
  }

  @Test
  void the_recovery_is_logged_also_when_no_job_is_left() {
    AttemptExecutor run = running();
    fail(5);
    slots.remove(run);
    source.unavailable = false;
    keeper.beat();
    assertThat(log.lines(Level.INFO)).anyMatch(line -> line.startsWith("HEARTBEAT_RECOVERED"));
    assertThat(source.calls("commands")).isEqualTo(1);
  }

  @Test
  void a_lost_lease_stops_its_handler_and_no_other() {
    AttemptExecutor lost = running();
    AttemptExecutor kept = running();
    source.held.remove(lost.lease());
    keeper.beat();
    assertThat(lost.hasLostLease()).isTrue();
    assertThat(TestHost.isStopped(kept)).isFalse();
    assertThat(kept.hasLostLease()).isFalse();
  }

  @Test
  void an_attempt_that_is_being_settled_has_not_lost_its_lease() {
    AttemptExecutor run = running();
    TestHost.runHere(run);
    source.held.remove(run.lease());
    keeper.beat();
    assertThat(TestHost.isStopped(run)).isFalse();
  }

  @Test
  void an_attempt_that_settled_itself_is_not_treated_as_lost() {
    AttemptExecutor run =
        host.run(
            Samples.job(),
            (payload, context) -> {
              context.settlingInTransaction();
              source.held.remove(context.lease());
              source.succeeded.add(context.lease());
              keeper.beat();
              until(() -> source.calls("succeeded") == 1);
              keeper.beat();
              context.checkCancelled();
              return null;
            });
    slots.add(run);
    TestHost.runHere(run);
    assertThat(TestHost.isStopped(run)).isFalse();
    assertThat(source.calls("succeeded")).isEqualTo(2);
  }

  @Test
  void an_attempt_that_lost_its_lease_before_it_could_settle_itself_is_stopped() {
    AttemptExecutor run =
        host.run(
            Samples.job(),
            (payload, context) -> {
              context.settlingInTransaction();
              source.held.remove(context.lease());
              keeper.beat();
              until(context::isCancelled);
              return null;
            });
    slots.add(run);
    TestHost.runHere(run);
    assertThat(TestHost.isStopped(run)).isTrue();
  }

  @Test
  void a_cancellation_is_received_with_the_heartbeat() {
    AttemptExecutor run = running();
    source.cancelled.put(run.lease(), "not needed");
    keeper.beat();
    assertThat(TestHost.isStopped(run)).isTrue();
  }

  @Test
  void a_cancellation_is_received_between_heartbeats_too() {
    AttemptExecutor run = running();
    LeasedJob foreign = source.hold(Samples.job());
    source.cancelled.put(run.lease(), "not needed");
    source.cancelled.put(foreign.lease(), "of another process");
    assertThat(keeper.pollCommands()).isLessThan(Duration.ofSeconds(1));
    keeper.pollCommands();
    assertThat(TestHost.isStopped(run)).isTrue();
  }

  @Test
  void while_heartbeats_fail_cancellations_are_not_polled() {
    running();
    fail(1);
    keeper.pollCommands();
    assertThat(source.calls("commands")).isZero();
  }

  @Test
  void its_connection_is_opened_once_before_there_are_jobs() {
    keeper.connect();
    keeper.connect();
    assertThat(source.calls).containsExactly("commands");
  }
}
