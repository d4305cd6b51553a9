package dev.holdfast.steps;

import java.util.function.LongSupplier;

/** When an attempt last gave a sign of life. */
final class Vitals {
  private final LongSupplier nanos;
  private volatile long last;

  Vitals(LongSupplier nanos) {
    this.nanos = nanos;
    this.last = nanos.getAsLong();
  }

  void alive() {
    last = nanos.getAsLong();
  }

  long silentFor() {
    return nanos.getAsLong() - last;
  }
}
