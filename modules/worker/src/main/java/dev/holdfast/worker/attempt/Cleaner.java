package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
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
  void clean(AttemptFiles files, @Nullable Settlement settlement, Ack ack) {
    if (!files.needsCleaning()) {
      return;
    }
    try {
      threads.execute(() -> cleanNow(files, settlement, ack));
    } catch (RejectedExecutionException closed) {
      log.debug("not cleaned up, because the worker has stopped");
    }
  }

  /** After an attempt that another one continues. */
  void drop(AttemptFiles files) {
    clean(files, null, Ack.LEASE_LOST);
  }

  private static void cleanNow(AttemptFiles files, @Nullable Settlement settlement, Ack ack) {
    if (ack == Ack.LEASE_LOST) {
      files.dropped();
      return;
    }
    switch (settlement) {
      case null -> files.succeeded();
      case Settlement.Succeed succeed -> files.succeeded();
      case Settlement.Continue next -> files.succeeded();
      case Settlement.Fail fail -> files.failed();
      case Settlement.Cancel cancel -> files.dropped();
      case Settlement.Release release -> files.dropped();
      case Settlement.Snooze snooze -> files.dropped();
    }
  }

  /** Waits a while for what is being deleted; the rest is left to the next cleaning. */
  void close(Duration timeout) {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("some scratch folders could not be deleted in time");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
