package dev.holdfast.model;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * How long to wait before the next try: exponential with full jitter, so that a thousand jobs that
 * failed together do not come back together.
 */
public record RetryPolicy(Duration base, double factor, Duration max) {
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(Duration.ofSeconds(2), 2.0, Duration.ofMinutes(15));

  /** Comes back at once, for tests and for kinds that wait by themselves. */
  public static final RetryPolicy NONE = new RetryPolicy(Duration.ZERO, 1.0, Duration.ZERO);

  public RetryPolicy {
    if (base.isNegative() || max.compareTo(base) < 0 || max.toDays() > Limits.DELAY_DAYS) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "retry delay: base %s must be zero or more, and max %s at least base and a century at most"
              .formatted(base, max));
    }
    if (!(factor >= 1.0 && factor <= 100.0)) {
      throw new RefusedException(
          Refusal.BAD_TIMING, "retry delay: factor " + factor + " must lie between 1 and 100");
    }
  }

  /** The longest wait after the n-th failed attempt, n from 1. */
  public Duration ceiling(int failures) {
    double millis = base.toMillis() * Math.pow(factor, Math.max(0, failures - 1));
    return millis >= max.toMillis() ? max : Duration.ofMillis((long) millis);
  }

  public Duration delay(int failures, RandomGenerator random) {
    long ceiling = ceiling(failures).toMillis();
    return ceiling == 0 ? Duration.ZERO : Duration.ofMillis(random.nextLong(ceiling + 1));
  }
}
