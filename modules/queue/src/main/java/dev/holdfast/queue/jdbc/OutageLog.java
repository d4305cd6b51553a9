package dev.holdfast.queue.jdbc;

import dev.holdfast.model.value.Outage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs that the database does not answer, and that it answers again: once for all callers. */
final class OutageLog {
  private static final Logger log = LoggerFactory.getLogger(OutageLog.class);

  private final Outage outage = new Outage(System::nanoTime);

  void failed(long callBegan, Throwable thrown) {
    if (thrown instanceof DatabaseException error && error.isOutage() && outage.begins(callBegan)) {
      log.warn("the database does not answer, retrying: {}", error.getMessage());
    }
  }

  void answered(long callBegan) {
    outage
        .ends(callBegan)
        .ifPresent(
            lasted ->
                log.info("the database answers again after {} s", lasted.toMillis() / 1000.0));
  }
}
