package dev.holdfast;

import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.util.function.Supplier;

/** What a worker is told of errors of the database. */
final class SourceErrors {
  private SourceErrors() {}

  /** Only transient errors are worth another try; the others need a repair. */
  static <T> T translated(Supplier<T> verb) {
    try {
      return verb.get();
    } catch (DatabaseException e) {
      if (!e.isTransient()) {
        throw e;
      }
      String message = String.valueOf(e.getMessage());
      throw e.isBusy()
          ? new SourceBusyException(message, e)
          : new SourceUnavailableException(message, e);
    }
  }
}
