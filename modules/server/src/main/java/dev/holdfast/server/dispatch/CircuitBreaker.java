package dev.holdfast.server.dispatch;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Stops trying where nothing works. After a few different things have failed in a row it lets
 * nothing through for a while, then a single try; each failure of that one makes the while longer.
 *
 * <p>Different ones: something that fails again and again by itself says nothing about the others.
 */
final class CircuitBreaker {
  private static final int FAILURES = 5;
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private final LongSupplier nanos;
  private final Set<Object> failed = new HashSet<>();
  private Duration pause = SHORTEST;
  private long openUntil;
  private boolean trying;

  CircuitBreaker(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** How many of so many may be tried now. */
  synchronized int admits(int wanted) {
    if (!isOpen()) {
      return wanted;
    }
    if (trying || nanos.getAsLong() - openUntil < 0) {
      return 0;
    }
    return Math.min(1, wanted);
  }

  /** What was admitted is under way. */
  synchronized void begun() {
    trying = isOpen();
  }

  synchronized void succeeded() {
    failed.clear();
    trying = false;
    pause = SHORTEST;
  }

  /** It ended in a way that says nothing about whether others would get through. */
  synchronized void undecided() {
    trying = false;
  }

  synchronized void failed(Object what) {
    boolean wasOpen = isOpen();
    if (!wasOpen) {
      failed.add(what);
    }
    if (isOpen()) {
      if (wasOpen && trying) {
        pause = longer(pause);
      }
      trying = false;
      openUntil = nanos.getAsLong() + pause.toNanos();
    }
  }

  synchronized boolean isOpen() {
    return failed.size() >= FAILURES;
  }

  private static Duration longer(Duration pause) {
    Duration twice = pause.multipliedBy(2);
    return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
  }
}
