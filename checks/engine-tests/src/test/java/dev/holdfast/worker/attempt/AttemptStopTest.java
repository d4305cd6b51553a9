package dev.holdfast.worker.attempt;

import static dev.holdfast.testkit.Eventually.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.LeaseLostException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Attempts that are stopped, cancelled or abandoned. */
class AttemptStopTest extends AttemptExecutorFixture {
  private final AtomicBoolean begun = new AtomicBoolean();

  /** One whose handler is known to have begun. */
  private AttemptExecutor noticed() {
    return host.run(
        job,
        (payload, context) -> {
          begun.set(true);
          return "done";
        });
  }

  @Test
  void a_stop_is_visible_before_the_interrupt() {
    AtomicBoolean seen = new AtomicBoolean();
    CountDownLatch inHandler = new CountDownLatch(1);
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              inHandler.countDown();
              try {
                Thread.sleep(Duration.ofMinutes(1));
              } catch (InterruptedException e) {
                seen.set(context.isCancelled());
                throw e;
              }
              return null;
            });
    Thread.ofVirtual().start(run::run);
    until(() -> inHandler.getCount() == 0);
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end().settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    assertThat(seen).isTrue();
  }

  @Test
  void a_handler_that_was_stopped_before_it_began_does_not_begin() {
    AttemptExecutor run = noticed();
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end(run).settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    assertThat(begun).isFalse();
  }

  @Test
  void an_attempt_without_a_thread_is_cancelled_without_waiting_for_one() {
    AttemptExecutor run = noticed();
    run.stop(new StopReason.Cancelled("wanted"));
    assertThat(end().settlement()).isEqualTo(new Settlement.Cancel(job.lease(), null));
    run.run();
    assertThat(host.ends).hasSize(1);
    assertThat(begun).isFalse();
  }

  @Test
  void the_timeout_counts_from_the_start_of_the_handler() {
    Watchdog watchdog = host.services.watchdog();
    AttemptExecutor run =
        host.run(
            Samples.job(Samples.KIND, Duration.ofHours(1), null),
            (payload, context) -> {
              assertThat(watchdog.timers()).isEqualTo(1);
              return "done";
            });
    assertThat(watchdog.timers()).isZero();
    assertThat(end(run).settlement()).isInstanceOf(Settlement.Succeed.class);
    assertThat(watchdog.timers()).isZero();
  }

  @Test
  void an_attempt_past_its_deadline_does_not_begin() {
    AttemptExecutor run =
        host.run(
            Samples.job(Samples.KIND, null, Duration.ofMillis(-1)),
            (payload, context) -> {
              begun.set(true);
              return "done";
            });
    assertThat(failure(run).code()).isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(begun).isFalse();
  }

  @Test
  void a_result_counts_though_the_job_was_cancelled_before_it() {
    AttemptExecutor[] run = new AttemptExecutor[1];
    run[0] =
        host.run(
            job,
            (payload, context) -> {
              run[0].stop(new StopReason.Cancelled("too late"));
              return "done";
            });
    assertThat(end(run[0]).settlement()).isInstanceOf(Settlement.Succeed.class);
  }

  @Test
  void an_interrupt_does_not_outlive_the_handler() {
    AttemptExecutor[] run = new AttemptExecutor[1];
    run[0] =
        host.run(
            job,
            (payload, context) -> {
              run[0].stop(new StopReason.TimedOut());
              assertThat(Thread.currentThread().isInterrupted()).isTrue();
              return null;
            });
    end(run[0]);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void an_ended_attempt_is_not_stopped() {
    AttemptExecutor run = host.run(job, (payload, context) -> null);
    end(run);
    run.stop(new StopReason.Shutdown());
    run.lost();
    run.abandon();
    assertThat(run.stop.isSet()).isFalse();
    assertThat(host.ends).hasSize(1);
  }

  @Test
  void an_abandoned_handler_no_longer_has_the_lease() {
    CountDownLatch inHandler = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean refused = new AtomicBoolean();
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              inHandler.countDown();
              awaitIgnoringInterrupts(goOn);
              try {
                context.event("late", "");
              } catch (LeaseLostException e) {
                refused.set(true);
              }
              return "late";
            });
    Thread handler = Thread.ofVirtual().start(run::run);
    until(() -> inHandler.getCount() == 0);
    run.stop(new StopReason.Cancelled("wanted"));
    run.abandon();
    assertThat(end().settlement()).isInstanceOf(Settlement.Fail.class);
    goOn.countDown();
    until(() -> !handler.isAlive());
    assertThat(refused).isTrue();
    assertThat(host.ends).hasSize(1);
    assertThat(source.allSettled()).hasSize(1);
  }

  @Test
  void concurrent_return_stop_and_abandonment_end_the_attempt_once() throws Exception {
    for (int i = 0; i < 300; i++) {
      LeasedJob raced = Samples.job();
      CyclicBarrier barrier = new CyclicBarrier(3);
      AttemptExecutor run =
          host.run(
              raced,
              (payload, context) -> {
                barrier.await();
                return "done";
              });
      Thread handler = Thread.ofVirtual().start(run::run);
      Thread canceller =
          Thread.ofVirtual().start(() -> meet(barrier, () -> run.stop(new StopReason.LeaseLost())));
      Thread watchdog = Thread.ofVirtual().start(() -> meet(barrier, run::abandon));
      handler.join();
      canceller.join();
      watchdog.join();
      int expected = i + 1;
      until(() -> host.ends.size() == expected);
    }
    assertThat(host.ends).hasSize(300);
  }

  @Test
  void attachments_are_killed_before_an_abandoned_attempt_is_settled() {
    Attached program = new Attached();
    AttemptExecutor run = attaching(program);
    run.stop(new StopReason.Cancelled("wanted"));
    until(() -> program.terminated.get());
    assertThat(program.settledWhenKilled).isNull();
    run.abandon();
    until(() -> program.settledWhenKilled != null);
    assertThat(program.settledWhenKilled).isFalse();
    assertThat(end().settlement()).isInstanceOf(Settlement.Fail.class);
    program.left.countDown();
  }

  @Test
  void attachments_are_killed_when_the_lease_is_lost_after_a_cancel() {
    Attached program = new Attached();
    AttemptExecutor run = attaching(program);
    run.stop(new StopReason.Cancelled("wanted"));
    until(() -> program.terminated.get());
    run.lost();
    until(() -> program.settledWhenKilled != null);
    program.left.countDown();
    assertThat(end().ack()).isEqualTo(Ack.LEASE_LOST);
  }

  private final class Attached implements Attachment {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch left = new CountDownLatch(1);
    final AtomicBoolean terminated = new AtomicBoolean();
    volatile @Nullable Boolean settledWhenKilled;

    @Override
    public void terminate() {
      terminated.set(true);
    }

    @Override
    public void kill() {
      if (settledWhenKilled != null) {
        return;
      }
      // Long enough to see a settlement that does not wait for this.
      long until = System.nanoTime() + Duration.ofMillis(500).toNanos();
      while (host.ends.isEmpty() && System.nanoTime() < until) {
        LockSupport.parkNanos(1_000_000);
      }
      settledWhenKilled = !host.ends.isEmpty();
    }
  }

  private AttemptExecutor attaching(Attached program) {
    AttemptExecutor run =
        host.run(
            job,
            (payload, context) -> {
              context.attach(program);
              program.begun.countDown();
              awaitIgnoringInterrupts(program.left);
              return null;
            });
    Thread.ofVirtual().start(run::run);
    until(() -> program.begun.getCount() == 0);
    return run;
  }

  private static void meet(CyclicBarrier barrier, Runnable then) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    then.run();
  }

  private static void awaitIgnoringInterrupts(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException ignored) {
        // as some handlers do
      }
    }
  }
}
