package dev.holdfast.worker.attempt;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Lets a report through if it says something new: a percent more, half a second later, or 100. */
final class ProgressThrottle {
  static final Duration QUIET = Duration.ofMillis(500);

  private final LongSupplier nanos;
  private int last = -1;
  private long lastAt;

  ProgressThrottle(LongSupplier nanos) {
    this.nanos = nanos;
  }

  synchronized boolean lets(int percent) {
    long now = nanos.getAsLong();
    boolean first = last < 0;
    boolean finalOne = percent == 100 && last != 100;
    if (first || finalOne || percent >= last + 1 || now - lastAt >= QUIET.toNanos()) {
      last = percent;
      lastAt = now;
      return true;
    }
    return false;
  }
}
