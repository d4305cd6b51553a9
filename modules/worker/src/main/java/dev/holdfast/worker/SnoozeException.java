package dev.holdfast.worker;

import java.time.Duration;

/** Thrown by a handler to come back later without using any budget. */
public final class SnoozeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Duration delay;

  public SnoozeException(Duration delay) {
    super("snoozed for " + delay);
    this.delay = delay;
  }

  public Duration delay() {
    return delay;
  }
}
