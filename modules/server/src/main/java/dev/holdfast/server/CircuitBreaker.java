package dev.holdfast.server;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Stops trying where nothing works. After a few failures in a row it lets nothing through for a
 * while, then a single try; each failure of that one makes the while longer.
 */
final class CircuitBreaker {
  private static final int FAILURES = 5;
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private final LongSupplier nanos;
  private int failures;
  private Duration pause = SHORTEST;
  private long openUntil;
  private boolean trying;

  CircuitBreaker(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** How many of so many may be tried now. */
  synchronized int admits(int wanted) {
    if (failures < FAILURES) {
      return wanted;
    }
    if (trying || nanos.getAsLong() - openUntil < 0) {
      return 0;
    }
    return Math.min(1, wanted);
  }

  /** What was admitted is under way. */
  synchronized void begun() {
    trying = failures >= FAILURES;
  }

  synchronized void succeeded() {
    failures = 0;
    trying = false;
    pause = SHORTEST;
  }

  synchronized void failed() {
    failures++;
    if (failures >= FAILURES) {
      if (failures > FAILURES && trying) {
        pause = longer(pause);
      }
      trying = false;
      openUntil = nanos.getAsLong() + pause.toNanos();
    }
  }

  synchronized boolean isOpen() {
    return failures >= FAILURES;
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
  }
}
