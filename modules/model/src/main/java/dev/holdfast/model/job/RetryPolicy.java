package dev.holdfast.model.job;

import dev.holdfast.model.value.Jitter;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The delay before the next attempt: exponential, and random within the upper half of that, so that
 * jobs that failed together are not retried together, and none is retried at once.
 */
public record RetryPolicy(Duration base, double factor, Duration max) {
  // A job has three attempts by default, and so two waits: the first short, for what passes in a
  // moment, and the second at least a minute, for a disk that is full or a server that restarts.
  public static final RetryPolicy DEFAULT =
      new RetryPolicy(Duration.ofSeconds(10), 12.0, Duration.ofMinutes(15));

  /** No delay, for tests and for kinds that wait by themselves. */
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
          Refusal.BAD_TIMING, "retry delay: factor " + factor + " must be between 1 and 100");
    }
  }

  /** The longest wait after the n-th failed attempt, n from 1. */
  public Duration ceiling(int failures) {
    double millis = base.toMillis() * Math.pow(factor, Math.max(0, failures - 1));
    return millis >= max.toMillis() ? max : Duration.ofMillis((long) millis);
  }

  /**
   * The wait of a job that has failed once more.
   *
   * @param before how many of its attempts had failed before; those that were released or snoozed
   *     are not failures
   */
  public Duration next(int before, RandomGenerator random) {
    return Jitter.upperHalf(ceiling(before + 1), random);
  }
}
