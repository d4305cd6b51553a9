package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops handlers that are out of time, and abandons those that do not stop. Makes no calls. */
public final class Watchdog implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);

  private final Timings timings;
  private final Metrics metrics;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<AttemptExecutor, List<Future<?>>> timers = new ConcurrentHashMap<>();

  public Watchdog(Timings timings, Metrics metrics) {
    this.timings = timings;
    this.metrics = metrics;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("holdfast-watchdog").factory());
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  public void watch(AttemptExecutor attempt) {
    Duration timeout = attempt.job().timeout();
    if (timeout != null) {
      in(timeout, attempt, () -> attempt.stop(new StopReason.TimedOut()));
    }
    Duration untilDeadline = attempt.job().untilDeadline();
    if (untilDeadline != null) {
      // Counted from the claim; a job that is late already does not even begin.
      Duration left = untilDeadline.minusNanos(System.nanoTime() - attempt.claimedAt());
      if (left.isPositive()) {
        in(left, attempt, () -> attempt.stop(new StopReason.PastDeadline()));
      } else {
        attempt.stop(new StopReason.PastDeadline());
      }
    }
    if (attempt.isStrict()) {
      watchLease(attempt);
    }
  }

  /**
   * The lease may have run out although no answer has said so yet: the attempt must not continue.
   */
  private void watchLease(AttemptExecutor attempt) {
    long left = timings.lease().toNanos() - (System.nanoTime() - attempt.leaseFrom());
    if (left > 0) {
      in(Duration.ofNanos(left), attempt, () -> watchLease(attempt));
    } else {
      attempt.stop(new StopReason.LeaseRanOut());
    }
  }

  /** An attempt that has ended must not be kept in memory by a timeout of a day. */
  public void forget(AttemptExecutor attempt) {
    List<Future<?>> its = timers.remove(attempt);
    if (its != null) {
      its.forEach(timer -> timer.cancel(false));
    }
  }

  /** A handler that was told to stop has the grace period for it. */
  public void giveGrace(AttemptExecutor attempt) {
    in(
        timings.cancelGrace(),
        attempt,
        () -> {
          if (!attempt.isEnded()) {
            metrics.count(Metrics.ABANDONED, 1);
            log.warn(
                "{} {} did not stop within {} s; its thread is abandoned",
                attempt.job().kind(),
                attempt.lease(),
                timings.cancelGrace().toMillis() / 1000.0);
            attempt.abandon();
          }
        });
  }

  private void in(Duration time, AttemptExecutor attempt, Runnable task) {
    Future<?> set;
    try {
      // A deadline may be further away than nanoseconds can count; converting saturates.
      set = timer.schedule(task, TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      return; // The worker has stopped; what still runs has been released.
    }
    List<Future<?>> its = timers.computeIfAbsent(attempt, r -> new CopyOnWriteArrayList<>());
    its.removeIf(Future::isDone);
    its.add(set);
    // The attempt may have ended meanwhile, and its other timers were removed with it.
    if (attempt.isEnded()) {
      set.cancel(false);
      forget(attempt);
    }
  }

  /** How many timers are set. */
  int timers() {
    return timer.getQueue().size();
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
