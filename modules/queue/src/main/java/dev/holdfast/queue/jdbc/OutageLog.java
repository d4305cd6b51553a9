package dev.holdfast.queue.jdbc;

import dev.holdfast.model.value.Outage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs that the database is away, and that it is back: once for all callers. */
final class OutageLog {
  private static final Logger log = LoggerFactory.getLogger(OutageLog.class);

  private final Outage outage = new Outage(System::nanoTime);

  void failed(long callBegan, Throwable thrown) {
    if (thrown instanceof DatabaseException trouble
        && trouble.isOutage()
        && outage.begins(callBegan)) {
      log.warn("the database does not answer, retrying: {}", trouble.getMessage());
    }
  }

  void answered(long callBegan) {
    outage
        .ends(callBegan)
        .ifPresent(
            away -> log.info("the database answers again after {} s", away.toMillis() / 1000.0));
  }
}
