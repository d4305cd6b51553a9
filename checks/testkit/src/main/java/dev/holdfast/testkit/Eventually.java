package dev.holdfast.testkit;

import static dev.holdfast.testkit.Soon.SOON;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.pollinterval.IterativePollInterval;

/**
 * Waits for a condition, for long, because the machine may be busy. It looks often at first, and
 * less often later: most conditions are statements, and what takes seconds would be asked for a
 * thousand times.
 */
public final class Eventually {
  private static final Duration FIRST_PAUSE = Duration.ofMillis(5);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(50);

  private Eventually() {}

  public static void until(Callable<Boolean> condition) {
    await().until(condition);
  }

  public static void until(CountDownLatch latch) {
    until(() -> latch.getCount() == 0);
  }

  /**
   * @param what for the message of a test that times out
   */
  public static void until(Duration limit, String what, Callable<Boolean> condition) {
    await().alias(what).atMost(limit).until(condition);
  }

  /** For other conditions than these. */
  public static ConditionFactory await() {
    return Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(IterativePollInterval.iterative(Eventually::longer, FIRST_PAUSE))
        .atMost(SOON);
  }

  private static Duration longer(Duration pause) {
    Duration longer = pause.plus(pause.dividedBy(4));
    return longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
  }
}
