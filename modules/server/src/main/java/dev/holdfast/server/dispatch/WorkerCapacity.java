package dev.holdfast.server.dispatch;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * How many tasks the worker of a queue takes at a time, as far as its answers tell: one that is
 * busy refuses a task while it runs others. As many as it runs then are pushed from that moment on,
 * the next one as soon as one ends; now and then one more is tried, and another if that is taken.
 */
final class WorkerCapacity {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final LongSupplier nanos;
  private long capacity = Long.MAX_VALUE;
  private long tryFrom;
  private boolean trying;

  WorkerCapacity(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** How many of the wanted tasks may be pushed now. */
  synchronized int admits(int wanted, long running) {
    if (running < capacity) {
      return (int) Math.min(wanted, capacity - running);
    }
    return trying || nanos.getAsLong() - tryFrom < 0 ? 0 : Math.min(1, wanted);
  }

  /**
   * Called when admitted tasks are being pushed.
   *
   * @param running with these
   */
  synchronized void begun(long running) {
    trying |= running > capacity;
  }

  synchronized void taken() {
    if (trying) {
      trying = false;
      capacity++;
      tryFrom = nanos.getAsLong();
    }
  }

  /**
   * The worker is busy.
   *
   * @param running the tasks that it has started
   */
  synchronized void refused(long running) {
    capacity = running;
    undecided();
  }

  /** A push ended in a way that says nothing about the number of tasks. */
  synchronized void undecided() {
    trying = false;
    tryFrom = nanos.getAsLong() + PAUSE.toNanos();
  }
}
