package dev.holdfast.embedded;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for what no signal tells: a file of the server, a process that is not our child. */
final class Poll {
  private static final long STEP_MILLIS = 4;

  private Poll() {}

  /**
   * True as soon as the condition holds, false when time is up. An interrupt does not end the wait:
   * a service that shuts down interrupts its threads, and the server must be stopped all the same.
   */
  static boolean until(Duration limit, BooleanSupplier condition) {
    long end = System.nanoTime() + limit.toNanos();
    boolean interrupted = false;
    try {
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - end >= 0) {
          return false;
        }
        try {
          Thread.sleep(STEP_MILLIS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
