package dev.holdfast.worker;

import dev.holdfast.model.Timings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops handlers that are out of time, and gives up those that do not stop. Never asks anybody. */
final class Watchdog implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
  private static final Duration STRICT_CHECK = Duration.ofMillis(100);

  private final Timings timings;
  private final Metrics metrics;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<JobRun, List<Future<?>>> timers = new ConcurrentHashMap<>();

  Watchdog(Timings timings, Metrics metrics) {
    this.timings = timings;
    this.metrics = metrics;
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("holdfast-watchdog").factory());
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  void watch(JobRun run) {
    after(run.job().timeout(), run, new StopReason.TimedOut());
    after(run.job().untilDeadline(), run, new StopReason.PastDeadline());
    if (run.isStrict()) {
      schedule(
          run,
          () ->
              timer.scheduleWithFixedDelay(
                  () -> checkLease(run),
                  STRICT_CHECK.toNanos(),
                  STRICT_CHECK.toNanos(),
                  TimeUnit.NANOSECONDS));
    }
  }

  /** An attempt that has ended must not be kept in memory by a timeout of a day. */
  void forget(JobRun run) {
    List<Future<?>> its = timers.remove(run);
    if (its != null) {
      its.forEach(timer -> timer.cancel(false));
    }
  }

  private void after(@Nullable Duration time, JobRun run, StopReason reason) {
    if (time != null) {
      in(time, run, () -> stop(run, reason));
    }
  }

  private static void stop(JobRun run, StopReason reason) {
    if (!run.isEnded()) {
      run.stop(reason);
    }
  }

  /** Nobody may have said so yet, but the lease can have run out: this attempt must not go on. */
  private void checkLease(JobRun run) {
    if (System.nanoTime() - run.leaseFrom() >= timings.lease().toNanos()) {
      stop(run, new StopReason.LeaseLost());
    }
  }

  /** A handler that was told to stop has the grace period for it. */
  void giveGrace(JobRun run) {
    in(
        timings.cancelGrace(),
        run,
        () -> {
          if (!run.isEnded()) {
            metrics.count(Metrics.ABANDONED, 1);
            log.warn(
                "{} {} did not stop within {} s; its thread is given up",
                run.job().kind(),
                run.lease(),
                timings.cancelGrace().toMillis() / 1000.0);
            run.abandon();
          }
        });
  }

  private void in(Duration time, JobRun run, Runnable task) {
    schedule(run, () -> timer.schedule(task, time.toNanos(), TimeUnit.NANOSECONDS));
  }

  private void schedule(JobRun run, Supplier<Future<?>> scheduling) {
    try {
      timers.computeIfAbsent(run, r -> new CopyOnWriteArrayList<>()).add(scheduling.get());
    } catch (RejectedExecutionException closed) {
      return; // The worker has stopped; what still runs has been released.
    }
    if (run.isEnded()) {
      forget(run);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
