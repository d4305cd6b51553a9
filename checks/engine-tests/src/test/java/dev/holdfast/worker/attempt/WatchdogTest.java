package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WatchdogTest {
  private final MemorySource source = new MemorySource();
  private final TestHost host = new TestHost(source, Samples.options(1));
  private final Metrics metrics = host.services.metrics();
  private final Watchdog watchdog = host.services.watchdog();

  @BeforeEach
  void start() {
    host.outbox.start();
  }

  @AfterEach
  void close() {
    watchdog.close();
    host.outbox.close();
  }

  private AttemptExecutor watched(LeasedJob job, boolean strict) {
    Kind<Json> kind = Kind.of(job.kind(), Json.class, (payload, context) -> null);
    AttemptExecutor run = host.run(job, strict ? kind.strictly() : kind);
    watchdog.watch(run);
    return run;
  }

  private void awaitFailure(String code) {
    until(() -> !host.ends.isEmpty());
    assertThat(host.end().ack()).isEqualTo(Ack.ACCEPTED);
    assertThat(host.end().settlement())
        .isInstanceOfSatisfying(
            Settlement.Fail.class, fail -> assertThat(fail.failure().code()).isEqualTo(code));
  }

  @Test
  void an_attempt_is_stopped_at_its_timeout() {
    AttemptExecutor run = watched(Samples.job("k", Duration.ofMillis(20), null), false);
    until(run.stop::isSet);
    run.abandon();
    awaitFailure(Failure.ATTEMPT_TIMEOUT);
  }

  @Test
  void an_attempt_is_stopped_at_the_deadline_of_its_job() {
    AttemptExecutor run = watched(Samples.job("k", null, Duration.ofMillis(20)), false);
    until(run.stop::isSet);
    run.abandon();
    awaitFailure(Failure.DEADLINE_EXCEEDED);
  }

  @Test
  void an_attempt_past_its_deadline_does_not_begin() {
    CountDownLatch begun = new CountDownLatch(1);
    AttemptExecutor run =
        host.run(
            Samples.job("k", null, Duration.ofMillis(-1)),
            (payload, context) -> {
              begun.countDown();
              return null;
            });
    run.run();
    assertThat(begun.getCount()).isEqualTo(1);
    awaitFailure(Failure.DEADLINE_EXCEEDED);
  }

  @Test
  void a_deadline_beyond_the_range_of_nanoseconds_does_not_stop_the_attempt() {
    AttemptExecutor run = watched(Samples.job("k", null, Duration.ofDays(365 * 8_000L)), false);
    run.run();
    until(() -> !host.ends.isEmpty());
    assertThat(run.stop.isSet()).isFalse();
  }

  @Test
  void a_strict_attempt_is_stopped_when_its_lease_was_not_extended_in_time() {
    AttemptExecutor ordinary = watched(Samples.job(), false);
    AttemptExecutor strict = watched(Samples.job(), true);
    until(strict.stop::isSet);
    assertThat(System.nanoTime() - ordinary.leaseFrom())
        .isGreaterThanOrEqualTo(Samples.TIMINGS.lease().toNanos());
    assertThat(ordinary.stop.isSet()).isFalse();
    assertThat(strict.hasLostLease()).isFalse();
  }

  @Test
  void a_strict_attempt_continues_while_its_lease_is_extended() {
    AttemptExecutor run = watched(Samples.job(), true);
    run.extended(System.nanoTime() + Duration.ofHours(1).toNanos());
    Duration longer = Samples.TIMINGS.lease().multipliedBy(3).dividedBy(2);
    await().during(longer).atMost(longer.plusSeconds(10)).until(() -> !run.stop.isSet());
    assertThat(watchdog.timers()).isEqualTo(1);
  }

  private AttemptExecutor atWork(Handler<Json> handler) {
    AttemptExecutor run = host.run(Samples.job(), handler);
    Thread.ofVirtual().start(run::run);
    until(run::isHandling);
    return run;
  }

  @Test
  void a_handler_that_does_not_stop_within_the_grace_period_is_abandoned() {
    CountDownLatch goOn = new CountDownLatch(1);
    AttemptExecutor run =
        atWork(
            (payload, context) -> {
              while (goOn.getCount() > 0) {
                Thread.yield();
              }
              return null;
            });
    run.stop(new StopReason.Cancelled("wanted"));
    awaitFailure(Failure.CANCEL_TIMEOUT);
    assertThat(metrics.value(Metrics.ABANDONED)).isEqualTo(1);
    assertThat(run.isHandling()).isTrue();
    goOn.countDown();
    until(() -> !run.isHandling());
  }

  @Test
  void a_handler_that_stops_within_the_grace_period_is_not_abandoned() {
    AttemptExecutor run =
        atWork(
            (payload, context) -> {
              Thread.sleep(Duration.ofHours(1));
              return null;
            });
    run.stop(new StopReason.Cancelled("wanted"));
    until(() -> !host.ends.isEmpty());
    watchdog.forget(run);
    assertThat(host.end().settlement()).isInstanceOf(Settlement.Cancel.class);
    assertThat(metrics.value(Metrics.ABANDONED)).isZero();
  }

  @Test
  void ended_attempts_are_not_kept_in_memory_by_their_timers() {
    AttemptExecutor run = watched(Samples.job("k", Duration.ofDays(1), Duration.ofDays(2)), true);
    assertThat(watchdog.timers()).isEqualTo(3);
    watchdog.forget(run);
    assertThat(watchdog.timers()).isZero();
    AttemptExecutor quick = host.run(Samples.job("k", Duration.ofDays(1), null), (p, c) -> null);
    quick.run();
    until(() -> !host.ends.isEmpty());
    watchdog.watch(quick);
    assertThat(watchdog.timers()).isZero();
  }

  @Test
  void after_it_is_closed_it_starts_no_timers() {
    watchdog.close();
    AttemptExecutor run = watched(Samples.job("k", Duration.ofMillis(1), null), true);
    watchdog.giveGrace(run);
    assertThat(watchdog.timers()).isZero();
  }
}
