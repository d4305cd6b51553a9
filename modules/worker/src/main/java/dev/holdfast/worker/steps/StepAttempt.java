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
  private final Thread thread;

  private StepAttempt(
      String name, Callable<T> body, Budgets budgets, Supplier<Optional<Instant>> lastChange) {
    this.budgets = budgets;
    this.lastChange = lastChange;
    // Of the same sort as the handler's: a step that computes must not block other virtual threads.
    Thread.Builder like =
        Thread.currentThread().isVirtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
    this.thread = like.name(name).unstarted(() -> run(body));
  }

  /**
   * @param lastChange when the attempt last changed something; asked before it counts as silent
   */
  static <T extends @Nullable Object> StepAttempt<T> start(
      String name, Callable<T> body, Budgets budgets, Supplier<Optional<Instant>> lastChange) {
    StepAttempt<T> attempt = new StepAttempt<>(name, body, budgets, lastChange);
    attempt.thread.start();
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
      how = new End.Done<>(body.call());
    } catch (Throwable thrown) {
      how = new End.Threw<>(thrown);
    }
    end.compareAndSet(null, how);
    ended.countDown();
    wanted.countDown();
  }

  /** Stops it for an operator. */
  void stopForOperator() {
    stop(Stop.OPERATOR);
    wanted.countDown();
  }

  private void stop(Stop why) {
    if (end.compareAndSet(null, new End.Stopped<>(why))) {
      thread.interrupt();
    }
  }

  /**
   * Returns when it has ended, or was stopped and had time to notice. An interrupt of the caller
   * also interrupts the attempt: the whole job is to stop.
   */
  End<T> await(long graceNanos) throws InterruptedException {
    try {
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
      thread.interrupt();
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
