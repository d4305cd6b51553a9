package dev.holdfast.worker.steps;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step, on a thread of its own, while the caller's thread watches its time. An
 * attempt that ignores being stopped is left behind: what it still does is ignored.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class StepAttempt<T extends @Nullable Object> {
  private static final ThreadLocal<@Nullable AttemptClock> CLOCK = new ThreadLocal<>();

  /** An attempt that runs longer is worth a report while it runs. */
  private static final Duration LONG = Duration.ofMillis(500);

  /** How it ended. */
  sealed interface End<T extends @Nullable Object> {
    record Done<T extends @Nullable Object>(T result) implements End<T> {}

    record Threw<T extends @Nullable Object>(Throwable thrown) implements End<T> {}

    record Stopped<T extends @Nullable Object>(Stop why) implements End<T> {}
  }

  /** Why it was stopped. */
  enum Stop {
    WALL_TIMEOUT,
    IDLE_TIMEOUT,
    OPERATOR
  }

  /** Work that does not count as time of the attempt. */
  @FunctionalInterface
  public interface UntimedWork<T extends @Nullable Object, E extends Exception> {
    T done() throws E, InterruptedException;
  }

  private final Budgets budgets;
  private final Supplier<Optional<Instant>> lastChange;
  private final AttemptClock clock = new AttemptClock(System::nanoTime);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final CountDownLatch wanted = new CountDownLatch(1);
  private final AtomicReference<@Nullable End<T>> end = new AtomicReference<>();
  private @Nullable Thread thread;
  private boolean interrupted;

  private StepAttempt(Budgets budgets, Supplier<Optional<Instant>> lastChange) {
    this.budgets = budgets;
    this.lastChange = lastChange;
  }

  /**
   * @param lastChange when the attempt last changed something; asked before it counts as silent
   */
  static <T extends @Nullable Object> StepAttempt<T> start(
      StepThreads threads,
      String name,
      Callable<T> body,
      Budgets budgets,
      Supplier<Optional<Instant>> lastChange) {
    StepAttempt<T> attempt = new StepAttempt<>(budgets, lastChange);
    threads.start(name, () -> attempt.run(body));
    return attempt;
  }

  /** A sign of life of the attempt that the calling thread runs, even if it was left behind. */
  static boolean aliveHere() {
    AttemptClock own = CLOCK.get();
    if (own != null) {
      own.alive();
    }
    return own != null;
  }

  /** Pauses the timers of the attempt that the calling thread runs while this work is done. */
  public static <T extends @Nullable Object, E extends Exception> T withTimersPaused(
      UntimedWork<T, E> work) throws E, InterruptedException {
    AttemptClock own = CLOCK.get();
    if (own == null) {
      return work.done();
    }
    own.pause();
    try {
      return work.done();
    } finally {
      own.resume();
    }
  }

  void alive() {
    clock.alive();
  }

  private void run(Callable<T> body) {
    CLOCK.set(clock);
    End<T> how;
    try {
      enter();
      how = new End.Done<>(body.call());
    } catch (Throwable thrown) {
      how = new End.Threw<>(thrown);
    } finally {
      leave();
      CLOCK.remove();
    }
    end.compareAndSet(null, how);
    ended.countDown();
    wanted.countDown();
  }

  private synchronized void enter() {
    thread = Thread.currentThread();
    if (interrupted) {
      thread.interrupt();
    }
  }

  /** After this no interrupt comes: the thread may be used again. */
  private synchronized void leave() {
    thread = null;
    Thread.interrupted();
  }

  private synchronized void interrupt() {
    interrupted = true;
    if (thread != null) {
      thread.interrupt();
    }
  }

  /** Stops it for an operator. */
  void stopForOperator() {
    stop(Stop.OPERATOR);
    wanted.countDown();
  }

  private void stop(Stop why) {
    if (end.compareAndSet(null, new End.Stopped<>(why))) {
      interrupt();
    }
  }

  /**
   * Returns when it has ended, or was stopped and had time to notice. An interrupt of the caller
   * also interrupts the attempt: the whole job is to stop.
   *
   * @param isLong called once if it has not ended soon
   */
  End<T> await(long graceNanos, Runnable isLong) throws InterruptedException {
    try {
      long soon = Math.min(budgets.stepTimeout().toNanos(), budgets.stepIdleTimeout().toNanos());
      if (!wanted.await(Math.min(LONG.toNanos(), soon), TimeUnit.NANOSECONDS)) {
        isLong.run();
      }
      while (end.get() == null) {
        long left = budgets.stepTimeout().toNanos() - clock.ranFor();
        long idle = budgets.stepIdleTimeout().toNanos() - clock.silentFor();
        if (left <= 0) {
          stop(Stop.WALL_TIMEOUT);
        } else if (idle <= 0 && !hasChangedSomething()) {
          stop(Stop.IDLE_TIMEOUT);
        } else {
          boolean unused = wanted.await(Math.min(left, Math.max(1, idle)), TimeUnit.NANOSECONDS);
        }
      }
      boolean unused = ended.await(graceNanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopped) {
      interrupt();
      awaitUninterruptibly(graceNanos);
      throw stopped;
    }
    End<T> how = end.get();
    if (how == null) {
      throw new IllegalStateException("attempt finished without a result");
    }
    return how;
  }

  /** Called only when there was no other sign of life: it reads the time of every file. */
  private boolean hasChangedSomething() {
    Optional<Instant> change = lastChange.get();
    if (change.isPresent()) {
      Duration age = Duration.between(change.get(), Instant.now());
      clock.aliveBefore(age.isNegative() ? Duration.ZERO : age);
    }
    return clock.silentFor() < budgets.stepIdleTimeout().toNanos();
  }

  private void awaitUninterruptibly(long graceNanos) {
    long until = System.nanoTime() + graceNanos;
    while (ended.getCount() > 0 && System.nanoTime() < until) {
      try {
        boolean unused = ended.await(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException again) {
        // It was passed on to the attempt already.
      }
    }
  }

  boolean isLeftBehind() {
    return ended.getCount() > 0;
  }
}
