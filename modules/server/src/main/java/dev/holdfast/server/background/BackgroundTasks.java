package dev.holdfast.server.background;

import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server does now and then, whether anybody asks or not. */
public final class BackgroundTasks implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(BackgroundTasks.class);

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-chores").factory());

  public void every(Duration interval, Runnable chore) {
    var unused =
        executor.scheduleWithFixedDelay(
            () -> {
              try {
                chore.run();
              } catch (RuntimeException trouble) {
                if (!executor.isShutdown()) {
                  tell(log, "a chore", trouble);
                }
              }
            },
            interval.toMillis(),
            interval.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Of an outage the queue itself tells, once for all. */
  public static void tell(Logger log, String what, RuntimeException trouble) {
    if (!(trouble instanceof DatabaseException database) || !database.mayPass()) {
      log.error("{} failed and will be tried again", what, trouble);
    } else if (database.isOutage()) {
      log.debug("{} will be tried again: {}", what, trouble.getMessage());
    } else {
      log.warn("{} will be tried again: {}", what, trouble.getMessage());
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
