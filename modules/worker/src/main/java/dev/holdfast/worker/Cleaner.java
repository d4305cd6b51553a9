package dev.holdfast.worker;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.attempt.AttemptResources;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Clears up after attempts, beside their worker: deleting a large folder holds up no other job. */
final class Cleaner {
  private static final Logger log = LoggerFactory.getLogger(Cleaner.class);

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /** Without a settlement an accepted attempt has settled itself, and so succeeded. */
  void clean(AttemptResources workplace, @Nullable Settlement settlement, Ack ack) {
    if (!workplace.needsCleaning()) {
      return;
    }
    try {
      threads.execute(() -> cleanNow(workplace, settlement, ack));
    } catch (RejectedExecutionException closed) {
      log.debug("not cleared up, for the worker has stopped");
    }
  }

  private static void cleanNow(
      AttemptResources workplace, @Nullable Settlement settlement, Ack ack) {
    if (ack == Ack.LEASE_LOST) {
      workplace.dropped();
      return;
    }
    switch (settlement) {
      case null -> workplace.succeeded();
      case Settlement.Succeed succeed -> workplace.succeeded();
      case Settlement.Fail fail -> workplace.failed();
      case Settlement.Cancel cancel -> workplace.dropped();
      case Settlement.Release release -> workplace.dropped();
      case Settlement.Snooze snooze -> workplace.dropped();
    }
  }

  /** Waits a while for what is being deleted; the rest is left to the next cleaning. */
  void close(Duration patience) {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("some scratch folders could not be deleted in time");
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }
}
