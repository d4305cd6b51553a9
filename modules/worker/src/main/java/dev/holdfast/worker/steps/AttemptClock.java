package dev.holdfast.worker.steps;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Measures an attempt: how long its program has run, and how long it has been silent. Paused while
 * Holdfast itself works for it, on a clone or a snapshot: that time is not the program's.
 */
final class AttemptClock {
  private final LongSupplier nanos;
  private final long begun;
  private long last;
  private int pauses;
  private long pausedAt;
  private long pausedNanos;

  AttemptClock(LongSupplier nanos) {
    this.nanos = nanos;
    this.begun = nanos.getAsLong();
    this.last = begun;
  }

  synchronized void alive() {
    last = now();
  }

  /** A sign of life that is only seen now. */
  synchronized void aliveBefore(Duration age) {
    last = Math.max(last, now() - age.toNanos());
  }

  synchronized long silentFor() {
    return now() - last;
  }

  synchronized long ranFor() {
    return now() - begun;
  }

  /** Stops the clock; each call needs a {@link #resume}. */
  synchronized void pause() {
    if (pauses++ == 0) {
      pausedAt = nanos.getAsLong();
    }
  }

  synchronized void resume() {
    if (--pauses == 0) {
      pausedNanos += nanos.getAsLong() - pausedAt;
      // No sign of life could have been seen meanwhile.
      last = now();
    }
  }

  private long now() {
    return (pauses > 0 ? pausedAt : nanos.getAsLong()) - pausedNanos;
  }
}
