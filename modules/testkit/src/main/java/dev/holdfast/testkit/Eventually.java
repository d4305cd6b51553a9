package dev.holdfast.testkit;

import static dev.holdfast.testkit.Soon.SOON;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/** Waits for a condition, looking often, and for long: the machine may be busy. */
public final class Eventually {
  private static final Duration PAUSE = Duration.ofMillis(10);

  private Eventually() {}

  public static void until(Callable<Boolean> condition) {
    Awaitility.await().pollDelay(Duration.ZERO).pollInterval(PAUSE).atMost(SOON).until(condition);
  }

  public static void until(CountDownLatch latch) {
    until(() -> latch.getCount() == 0);
  }

  /**
   * @param what for the message of a test that has waited in vain
   */
  public static void until(Duration limit, String what, Callable<Boolean> condition) {
    Awaitility.await(what)
        .pollDelay(Duration.ZERO)
        .pollInterval(PAUSE)
        .atMost(limit)
        .until(condition);
  }
}
