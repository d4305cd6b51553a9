package dev.holdfast.worker.handler;

import dev.holdfast.model.value.Limits;
import java.time.Duration;

/** Thrown by a handler to run again later without using any budget. */
public final class SnoozeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Duration delay;

  /** Runs the job again after this long, at no cost to its budget. */
  public SnoozeException(Duration delay) {
    super("snoozed for " + delay);
    this.delay = Limits.delay("snooze", delay);
  }

  /** How long. */
  public Duration delay() {
    return delay;
  }
}
