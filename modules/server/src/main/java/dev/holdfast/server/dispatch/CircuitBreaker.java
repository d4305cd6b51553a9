package dev.holdfast.server.dispatch;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Opens after five different tasks have failed in a row. While it is open it admits nothing for a
 * pause, then a single trial; each trial that fails doubles the pause.
 *
 * <p>Different tasks, since one task that fails again and again says nothing about the others.
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

  /** How many of the wanted tasks may be tried now. */
  synchronized int admits(int wanted) {
    if (!isOpen()) {
      return wanted;
    }
    if (trying || nanos.getAsLong() - openUntil < 0) {
      return 0;
    }
    return Math.min(1, wanted);
  }

  /** Called when admitted tasks have started. */
  synchronized void begun() {
    trying = isOpen();
  }

  synchronized void succeeded() {
    failed.clear();
    trying = false;
    pause = SHORTEST;
  }

  /** The trial ended in a way that says nothing about other tasks. */
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
