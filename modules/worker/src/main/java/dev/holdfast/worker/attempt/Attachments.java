package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.worker.handler.Attachment;
import dev.holdfast.worker.handler.JobContext;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a handler has attached to its attempt, so that it ends with it. */
final class Attachments {
  private static final Logger log = LoggerFactory.getLogger(Attachments.class);

  private final Lease lease;
  private final Set<Entry> entries = ConcurrentHashMap.newKeySet();

  Attachments(Lease lease) {
    this.lease = lease;
  }

  private final class Entry implements JobContext.Attached {
    private final Attachment external;

    Entry(Attachment external) {
      this.external = external;
    }

    @Override
    public void close() {
      entries.remove(this);
    }
  }

  /**
   * @param tooLate whether the attempt should have stopped. Asked after the entry was added: the
   *     thread that stops the attempt sets this first and then looks at the entries, so one of
   *     finds the other.
   */
  JobContext.Attached attach(Attachment external, BooleanSupplier tooLate) {
    Entry entry = new Entry(external);
    entries.add(entry);
    if (tooLate.getAsBoolean()) {
      end(entry, Attachment::kill);
    }
    return entry;
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  void terminate() {
    entries.forEach(entry -> end(entry, Attachment::terminate));
  }

  /** Returns when all of them have ended. */
  void kill() {
    entries.forEach(entry -> end(entry, Attachment::kill));
  }

  private void end(Entry entry, Consumer<Attachment> how) {
    try {
      how.accept(entry.external);
    } catch (Throwable thrown) {
      log.warn("{}: what is attached to the attempt could not be ended", lease, thrown);
    }
  }
}
