package dev.holdfast.server.dispatch;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the database whether a queue's tasks can be pushed. An unchanged status is written
 * again every ten seconds only, since another server may have written another one meanwhile.
 */
final class DispatchStatusWriter {
  private static final Logger log = LoggerFactory.getLogger(DispatchStatusWriter.class);
  private static final Duration AGAIN = Duration.ofSeconds(10);

  /** A kind of null means that pushing works. */
  private record Written(DispatchError.@Nullable Kind kind, boolean circuitOpen, long at) {}

  private final Admin admin;
  private final LongSupplier nanos;
  private final Map<String, Written> written = new ConcurrentHashMap<>();

  DispatchStatusWriter(Admin admin, LongSupplier nanos) {
    this.admin = admin;
    this.nanos = nanos;
  }

  void works(String name) {
    if (mustWrite(name, null, false)) {
      write(() -> admin.dispatchWorks(name));
    }
  }

  void recordError(String name, DispatchError.Kind kind, String cause, boolean circuitOpen) {
    if (mustWrite(name, kind, circuitOpen)) {
      write(() -> admin.dispatchFails(name, kind, cause, circuitOpen));
    }
  }

  private boolean mustWrite(String name, DispatchError.@Nullable Kind kind, boolean circuitOpen) {
    long now = nanos.getAsLong();
    Written before = written.get(name);
    boolean changed =
        before == null
            || before.kind() != kind
            || before.circuitOpen() != circuitOpen
            || now - before.at() > AGAIN.toNanos();
    if (changed) {
      written.put(name, new Written(kind, circuitOpen, now));
    }
    return changed;
  }

  /** A failure is only logged: no task depends on the status. */
  private static void write(Runnable changed) {
    try {
      changed.run();
    } catch (DatabaseException unavailable) {
      log.debug("the dispatch status could not be written: {}", unavailable.getMessage());
    }
  }
}
