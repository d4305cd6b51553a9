package dev.holdfast.worker.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.attempt.TestHost;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClaimerTest {
  private final MemorySource source = new MemorySource();
  private final TestHost host = new TestHost(source);
  private final AtomicInteger woken = new AtomicInteger();
  private final Metrics metrics = new Metrics();
  private final Slots slots = new Slots(3, () -> {});
  private final List<LeasedJob> started = new ArrayList<>();
  private final WorkerOptions options = Samples.options(3);
  private final Claimer claimer =
      new Claimer(source, options, List.of(), slots, metrics, (job, claimedAt) -> start(job));

  private boolean start(LeasedJob job) {
    started.add(job);
    return slots.add(host.run(job, (payload, context) -> null));
  }

  private void free() {
    slots.all().forEach(slots::remove);
  }

  @Test
  void it_claims_no_more_jobs_than_it_has_free_slots() {
    for (int i = 0; i < 5; i++) {
      source.with(Samples.job());
    }
    assertThat(claimer.runOnce()).isEqualTo(Duration.ZERO);
    assertThat(started).hasSize(3);
    assertThat(claimer.runOnce()).isGreaterThan(Duration.ofSeconds(1));
    assertThat(source.calls("claim")).isEqualTo(1);
    free();
    claimer.runOnce();
    assertThat(started).hasSize(5);
  }

  @Test
  void in_a_backlog_it_waits_a_moment_for_more_free_slots() {
    ManualNanos nanos = new ManualNanos();
    Slots ten = new Slots(10, woken::incrementAndGet);
    Claimer gathering =
        new Claimer(
            source,
            Samples.options(10),
            List.of(),
            ten,
            metrics,
            (job, claimedAt) -> ten.add(host.run(job, (payload, context) -> null)),
            nanos);
    for (int i = 0; i < 30; i++) {
      source.with(Samples.job());
    }
    assertThat(gathering.runOnce()).isZero();
    assertThat(gathering.runOnce()).isGreaterThan(Duration.ofSeconds(1));
    ten.remove(ten.all().iterator().next());
    assertThat(woken).hasValue(1);
    assertThat(gathering.runOnce()).isBetween(Duration.ofNanos(1), Duration.ofMillis(3));
    assertThat(source.calls("claim")).isEqualTo(1);
    nanos.advance(Duration.ofMillis(4));
    assertThat(gathering.runOnce()).isZero();
    assertThat(source.calls("claim")).isEqualTo(2);
    ten.all().stream().limit(4).toList().forEach(ten::remove);
    assertThat(woken).as("half a batch is not free yet").hasValue(1);
    ten.remove(ten.all().iterator().next());
    assertThat(woken).hasValue(2);
    assertThat(gathering.runOnce()).isZero();
    assertThat(source.calls("claim")).isEqualTo(3);
  }

  @Test
  void after_a_few_jobs_it_claims_again_soon_since_only_an_empty_claim_has_a_due_time() {
    source.with(Samples.job());
    source.nextDue = Duration.ofMillis(20);
    assertThat(claimer.runOnce()).isEqualTo(Duration.ofMillis(30));
    assertThat(claimer.runOnce()).isEqualTo(Duration.ofMillis(21));
  }

  @Test
  void after_a_full_claim_it_claims_again_at_once() {
    source.with(Samples.job(), Samples.job(), Samples.job());
    assertThat(claimer.runOnce()).isEqualTo(Duration.ZERO);
  }

  @Test
  void a_source_that_limits_a_claim_is_asked_again_at_once() {
    source.mostAtOnce = 2;
    source.with(Samples.job(), Samples.job(), Samples.job());
    Claimer modest =
        new Claimer(
            source,
            options,
            List.of(),
            new Slots(10, woken::incrementAndGet),
            metrics,
            (job, claimedAt) -> start(job));
    assertThat(modest.runOnce()).isEqualTo(Duration.ZERO);
    assertThat(started).hasSize(2);
    assertThat(modest.runOnce()).isEqualTo(Duration.ofMillis(30));
    assertThat(started).hasSize(3);
  }

  @Test
  void with_nothing_due_it_waits_for_its_polling_interval() {
    source.nextDue = Duration.ofHours(1);
    assertThat(claimer.runOnce()).isLessThanOrEqualTo(options.poll().multipliedBy(2));
  }

  @Test
  void a_notification_for_a_job_that_another_worker_claimed_is_counted() {
    claimer.runOnce();
    assertThat(metrics.value(Metrics.ACQUIRE_FAILS)).isZero();
    claimer.onNotification();
    claimer.runOnce();
    claimer.runOnce();
    assertThat(metrics.value(Metrics.ACQUIRE_FAILS)).isEqualTo(1);
    source.with(Samples.job());
    claimer.onNotification();
    claimer.runOnce();
    assertThat(metrics.value(Metrics.ACQUIRE_FAILS)).isEqualTo(1);
  }

  @Test
  void notifications_of_jobs_that_were_claimed_here_are_not_counted() {
    source.with(Samples.job(), Samples.job());
    for (int i = 0; i < 3; i++) {
      claimer.onNotification();
      claimer.runOnce();
    }
    assertThat(metrics.value(Metrics.ACQUIRE_FAILS)).isZero();
    claimer.onNotification();
    claimer.runOnce();
    assertThat(metrics.value(Metrics.ACQUIRE_FAILS)).isEqualTo(1);
  }

  @Test
  void jobs_that_could_not_be_started_are_released() {
    LeasedJob first = Samples.job();
    LeasedJob second = Samples.job();
    Claimer failing =
        new Claimer(
            source,
            options,
            List.of(),
            slots,
            metrics,
            (job, claimedAt) -> {
              if (job.equals(second)) {
                throw new OutOfMemoryError("no thread");
              }
              return start(job);
            });
    source.with(first, second, Samples.job());
    assertThatThrownBy(failing::runOnce).isInstanceOf(OutOfMemoryError.class);
    failing.runOnce();
    assertThat(source.held).containsExactly(first.lease());
  }

  @Test
  void jobs_that_arrive_while_the_worker_stops_are_released_at_once() {
    LeasedJob job = Samples.job();
    source.with(job);
    source.afterClaim = jobs -> slots.close();
    claimer.runOnce();
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), false));
  }

  @Test
  void once_closed_it_claims_nothing() {
    source.with(Samples.job());
    claimer.close();
    claimer.runOnce();
    assertThat(source.calls).isEmpty();
  }

  @Test
  void under_load_it_pauses_but_not_while_draining() throws InterruptedException {
    WorkerOptions busy =
        new WorkerOptions(
            options.worker(),
            options.queues(),
            3,
            options.timings(),
            options.poll(),
            options.shutdownTimeout(),
            new Backpressure.Settings(0L, 0.5, Duration.ofSeconds(5), () -> 1.0),
            Samples.SCRATCH,
            Samples.STORE,
            Samples.HEALING,
            Duration.ZERO,
            WorkerOptions.DEFAULT_FAILURE_LOG);
    Claimer careful =
        new Claimer(source, busy, List.of(), slots, metrics, (job, claimedAt) -> start(job));
    source.depth = 10;
    source.with(Samples.job());
    assertThat(careful.runOnce()).isEqualTo(Duration.ofSeconds(5));
    assertThat(started).isEmpty();
    assertThat(careful.claimNow()).isEqualTo(1);
  }

  /** As it is while a sweep elsewhere makes a retry claimable. */
  @Test
  void while_draining_it_claims_again_until_the_due_job_is_found() throws InterruptedException {
    source.nextDue = Duration.ZERO;
    source.afterClaim =
        found -> {
          if (source.queuesAsked.size() == 2) {
            source.with(Samples.job());
          }
        };
    assertThat(claimer.claimNow()).isEqualTo(1);
    source.nextDue = Duration.ofMinutes(1);
    assertThat(claimer.claimNow()).isZero();
  }

  @Test
  void while_an_attempt_waits_for_a_thread_nothing_more_is_claimed() {
    long longAgo = System.nanoTime() - Duration.ofSeconds(6).toNanos();
    Kind<Json> kind = Kind.of(Samples.KIND, Json.class, (payload, context) -> null);
    AttemptExecutor waiting =
        new AttemptExecutor(source.hold(Samples.job()), kind, longAgo, host.services);
    slots.add(waiting);
    source.with(Samples.job());
    assertThat(claimer.runOnce()).isEqualTo(options.poll());
    assertThat(source.calls("claim")).isZero();
    slots.remove(waiting);
    claimer.runOnce();
    assertThat(started).hasSize(1);
  }

  private WorkerOptions twoQueues() {
    return new WorkerOptions(
        options.worker(),
        List.of("a", "b"),
        1,
        options.timings(),
        options.poll(),
        options.shutdownTimeout(),
        Backpressure.Settings.OFF,
        Samples.SCRATCH,
        Samples.STORE,
        Samples.HEALING,
        Duration.ZERO,
        WorkerOptions.DEFAULT_FAILURE_LOG);
  }

  @Test
  void queues_take_turns_to_be_claimed_first() {
    WorkerOptions both = twoQueues();
    Slots one = new Slots(1, () -> {});
    Claimer fair =
        new Claimer(
            source,
            both,
            List.of(),
            one,
            metrics,
            (job, claimedAt) -> one.add(host.run(job, (payload, context) -> null)));
    for (int i = 0; i < 4; i++) {
      source.with(Samples.job());
      fair.runOnce();
      one.all().forEach(one::remove);
    }
    assertThat(source.queuesAsked).containsExactly("a", "b", "a", "b");
  }

  @Test
  void while_a_suspect_waits_for_it_to_be_idle_it_claims_from_no_other_queue() {
    Claimer both =
        new Claimer(source, twoQueues(), List.of(), slots, metrics, (job, claimedAt) -> start(job));
    source.asksForAnEmptyWorker = "a";
    source.with(Samples.job());
    for (int i = 0; i < 3; i++) {
      assertThat(both.runOnce()).isPositive();
    }
    assertThat(source.queuesAsked).containsExactly("a", "a", "a");
    assertThat(started).isEmpty();
    source.asksForAnEmptyWorker = null;
    both.runOnce();
    assertThat(started).hasSize(1);
    both.runOnce();
    assertThat(source.queuesAsked).contains("b");
  }
}
