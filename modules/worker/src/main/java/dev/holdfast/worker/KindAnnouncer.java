package dev.holdfast.worker;

import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import java.time.Duration;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says at intervals which kinds a worker knows, so that others leave their jobs to it. */
final class KindAnnouncer {
  private static final Logger log = LoggerFactory.getLogger(KindAnnouncer.class);
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  private final JobSource source;
  private final WorkerOptions options;
  private final Set<String> kinds;
  private long nextAt = System.nanoTime();

  KindAnnouncer(JobSource source, WorkerOptions options, Set<String> kinds) {
    this.source = source;
    this.options = options;
    this.kinds = kinds;
  }

  /** Before the next sweep, on its thread: it needs none of its own. */
  Loop.Work before(Loop.Work sweep) {
    return () -> {
      announceIfDue();
      return sweep.runOnce();
    };
  }

  private void announceIfDue() {
    if (System.nanoTime() - nextAt < 0) {
      return;
    }
    try {
      source.announce(options.queues(), kinds);
      nextAt = System.nanoTime() + INTERVAL.toNanos();
    } catch (RuntimeException e) {
      // The sweep that follows logs it, and this is tried again with the next one.
      log.debug("{} could not announce the kinds it handles", options.worker(), e);
    }
  }
}
