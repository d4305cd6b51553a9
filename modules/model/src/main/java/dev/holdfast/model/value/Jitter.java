package dev.holdfast.model.value;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;

/**
 * Random waits, so that many that began to wait at the same moment do not end at the same moment.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Jitter {
  private Jitter() {}

  /** Anywhere in the upper half of a wait: never longer, and never nothing. */
  public static Duration upperHalf(Duration longest, RandomGenerator random) {
    long millis = longest.toMillis();
    return Duration.ofMillis(random.nextLong(millis / 2, millis + 1));
  }

  public static Duration upperHalf(Duration longest) {
    return upperHalf(longest, ThreadLocalRandom.current());
  }

  /** Between half and one and a half of a wait. */
  public static Duration aroundHalf(Duration wait) {
    return around(wait, 2);
  }

  /** Between three quarters and five quarters of a wait. */
  public static Duration aroundQuarter(Duration wait) {
    return around(wait, 4);
  }

  private static Duration around(Duration wait, int part) {
    long nanos = wait.toNanos();
    long spread = nanos / part;
    return Duration.ofNanos(nanos - spread + ThreadLocalRandom.current().nextLong(2 * spread + 1));
  }
}
