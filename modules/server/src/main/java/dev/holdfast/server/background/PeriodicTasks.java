package dev.holdfast.server.background;

import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks at fixed intervals, on one thread. A task that fails runs again at its next time. */
public final class PeriodicTasks implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PeriodicTasks.class);

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-periodic").factory());

  public void every(Duration interval, Runnable task) {
    var unused =
        executor.scheduleWithFixedDelay(
            () -> {
              try {
                task.run();
              } catch (RuntimeException failure) {
                if (!executor.isShutdown()) {
                  logFailure(log, "a periodic task", failure);
                }
              }
            },
            interval.toMillis(),
            interval.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Logs an outage at debug level only: the queue logs it once. */
  public static void logFailure(Logger log, String what, RuntimeException failure) {
    if (!(failure instanceof DatabaseException database) || !database.isTransient()) {
      log.error("{} failed and will be tried again", what, failure);
    } else if (database.isOutage()) {
      log.debug("{} will be tried again: {}", what, failure.getMessage());
    } else {
      log.warn("{} will be tried again: {}", what, failure.getMessage());
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
