package dev.holdfast.worker.config;

import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** At which level a worker logs a failed attempt, with its message and its stack trace. */
public enum FailureLog {
  ERROR(Level.ERROR),
  WARN(Level.WARN),
  INFO(Level.INFO),
  DEBUG(Level.DEBUG),
  OFF(null);

  private final @Nullable Level level;

  FailureLog(@Nullable Level level) {
    this.level = level;
  }

  /** Null when failures are not logged. */
  public @Nullable Level level() {
    return level;
  }
}
