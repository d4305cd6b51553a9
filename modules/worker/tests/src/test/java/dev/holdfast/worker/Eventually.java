package dev.holdfast.worker;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/** Waits for a condition, looking often, and for long: the machine may be busy. */
public final class Eventually {
  private Eventually() {}

  public static void until(Callable<Boolean> condition) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(Duration.ofMinutes(2))
        .until(condition);
  }
}
