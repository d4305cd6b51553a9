package dev.holdfast.worker;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.attempt.Samples;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** How a worker stops, and what happens to its jobs. */
class WorkerStopTest extends WorkerFixture {
  /** How much longer than its timeout a stop may take on a busy machine. */
  private static final Duration BEYOND = Duration.ofSeconds(30);

  @Test
  void an_idle_worker_stops_at_once() {
    Worker worker = worker((payload, context) -> null).start();
    until(() -> source.calls("claim") > 0);
    assertThat(stopping(worker, Duration.ofMinutes(1))).isLessThan(Duration.ofSeconds(30));
    assertThat(source.calls).contains("unlisten");
  }

  @Test
  void running_jobs_finish() {
    source.with(Samples.job(), Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 2);
    CompletableFuture<Void> stopping = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    source.with(Samples.job());
    release.countDown();
    until(stopping::isDone);
    assertThat(source.allSettled())
        .hasSize(2)
        .allSatisfy(settled -> assertThat(settled).isInstanceOf(Settlement.Succeed.class));
    assertThat(source.waiting).hasSize(1);
  }

  @Test
  void jobs_that_take_longer_are_released() {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_handler_that_ignores_the_stop_is_released_too() {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker((payload, context) -> awaitWithoutListening()).start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_strict_handler_that_ignores_the_stop_keeps_its_lease_also_after_a_lost_claim() {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker =
        worker(
                Samples.TIMINGS,
                Kind.of(Samples.KIND, Json.class, (payload, context) -> awaitWithoutListening())
                    .strictly())
            .start();
    until(() -> begun.get() == 1);
    loseClaims(() -> true);
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).isEmpty();
    assertThat(source.held).containsExactly(job.lease());
  }

  @Test
  void a_lost_claim_that_is_carried_out_before_the_end_is_released() {
    Worker worker = worker((payload, context) -> null).start();
    AtomicBoolean lost = new AtomicBoolean();
    loseClaims(() -> lost.compareAndSet(false, true));
    LeasedJob late = Samples.job();
    source.held.add(late.lease());
    worker.stop(Duration.ZERO);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(late.lease(), false));
  }

  /** Until the worker has looked for jobs of a lost claim, and so expects more of them. */
  private void loseClaims(BooleanSupplier next) {
    source.afterClaim =
        jobs -> {
          if (next.getAsBoolean()) {
            throw new SourceUnavailableException("answer lost", new IllegalStateException());
          }
        };
    until(() -> source.calls("heldBy") > 0);
  }

  @Test
  void a_claim_under_way_is_released() {
    LeasedJob job = Samples.job();
    CountDownLatch claimed = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    source.with(job);
    source.afterClaim =
        jobs -> {
          claimed.countDown();
          awaitQuietly(answer);
        };
    Worker worker = worker((payload, context) -> null).start();
    until(() -> claimed.getCount() == 0);
    CompletableFuture<Void> stopping = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    answer.countDown();
    until(stopping::isDone);
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), false));
    assertThat(source.held).isEmpty();
  }

  @Test
  void an_unreachable_source_does_not_keep_it_from_stopping() {
    source.with(Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    source.unavailable = true;
    release.countDown();
    assertThat(stopping(worker, Duration.ofMillis(500))).isLessThan(BEYOND.plusMillis(500));
  }

  @Test
  void a_source_that_never_answers_does_not_keep_it_from_stopping() {
    source.with(Samples.job());
    Worker worker = worker((payload, context) -> awaitWithoutListening()).start();
    until(() -> begun.get() == 1);
    CountDownLatch never = new CountDownLatch(1);
    source.before = verb -> awaitQuietly(never);
    assertThat(stopping(worker, Duration.ofMillis(500))).isLessThan(BEYOND.plusMillis(500));
    never.countDown();
  }

  @Test
  void stopping_twice_stops_once_and_the_second_call_waits_for_the_first() {
    source.with(Samples.job());
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    CompletableFuture<Void> first = CompletableFuture.runAsync(worker::close);
    until(() -> source.calls.contains("unlisten"));
    CompletableFuture<Void> second = CompletableFuture.runAsync(worker::close);
    assertThat(second).isNotDone();
    release.countDown();
    until(second::isDone);
    assertThat(first).isDone();
    worker.close();
    assertThat(source.calls("unlisten")).isEqualTo(1);
  }

  @Test
  void an_interrupted_stop_releases_running_jobs_at_once() throws Exception {
    LeasedJob job = Samples.job();
    source.with(job);
    Worker worker = worker(this::awaitRelease).start();
    until(() -> begun.get() == 1);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Thread stopping =
        Thread.ofPlatform()
            .start(
                () -> {
                  worker.stop(Duration.ofHours(1));
                  interrupted.complete(Thread.currentThread().isInterrupted());
                });
    until(() -> source.calls.contains("unlisten"));
    stopping.interrupt();
    assertThat(interrupted.get(120, TimeUnit.SECONDS)).isTrue();
    assertThat(source.allSettled()).containsExactly(new Settlement.Release(job.lease(), true));
  }

  @Test
  void a_handler_may_stop_its_own_worker() {
    source.with(Samples.job());
    Worker[] worker = new Worker[1];
    worker[0] =
        worker(
            (payload, context) -> {
              worker[0].stop(Duration.ZERO);
              return null;
            });
    worker[0].start();
    awaitSettled(1);
    until(() -> worker[0].metrics().value(Metrics.INFLIGHT) == 0);
  }

  @Test
  void it_starts_once() {
    Worker worker = worker((payload, context) -> null).start();
    assertThatThrownBy(worker::start).isInstanceOf(IllegalStateException.class);
    worker.close();
    assertThatThrownBy(worker::drain).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void events_of_handlers_that_outlive_their_worker_are_rejected() {
    source.with(Samples.job());
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Worker worker =
        worker(
                (payload, context) -> {
                  awaitWithoutListening();
                  try {
                    context.event("late", "");
                  } catch (RuntimeException e) {
                    thrown.complete(e);
                  }
                  return null;
                })
            .start();
    until(() -> begun.get() == 1);
    worker.stop(Duration.ZERO);
    release.countDown();
    assertThat(thrown.orTimeout(10, TimeUnit.SECONDS).join())
        .isInstanceOf(LeaseLostException.class);
  }

  private static Duration stopping(Worker worker, Duration timeout) {
    long start = System.nanoTime();
    worker.stop(timeout);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  private Object awaitWithoutListening() {
    begun.incrementAndGet();
    while (release.getCount() > 0) {
      try {
        release.await();
      } catch (InterruptedException ignored) {
        // as some handlers do
      }
    }
    return "released";
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
