package dev.holdfast.steps;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The clocks of an attempt: how long its program has run, and how long it has been silent. Both
 * stand still while Holdfast itself is at work, with a clone or a snapshot: that time is not the
 * program's.
 */
final class Vitals {
  private final LongSupplier nanos;
  private final long begun;
  private long last;
  private int stops;
  private long stoppedAt;
  private long stood;

  Vitals(LongSupplier nanos) {
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

  /** Stops the clocks; each call needs a {@link #go}. */
  synchronized void stop() {
    if (stops++ == 0) {
      stoppedAt = nanos.getAsLong();
    }
  }

  synchronized void go() {
    if (--stops == 0) {
      stood += nanos.getAsLong() - stoppedAt;
      // No sign of life could have been seen meanwhile.
      last = now();
    }
  }

  private long now() {
    return (stops > 0 ? stoppedAt : nanos.getAsLong()) - stood;
  }
}
