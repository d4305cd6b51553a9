package dev.holdfast.worker.handler;

import dev.holdfast.model.value.Limits;
import java.time.Duration;

/** Thrown by a handler to come back later without using any budget. */
public final class SnoozeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Duration delay;

  public SnoozeException(Duration delay) {
    super("snoozed for " + delay);
    this.delay = Limits.delay("snooze", delay);
  }

  public Duration delay() {
    return delay;
  }
}
