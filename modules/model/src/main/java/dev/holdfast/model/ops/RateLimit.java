package dev.holdfast.model.ops;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;

/** How many jobs of a queue may start per period of time, over all workers. */
public record RateLimit(int starts, Duration period) {
  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofDays(365);

  public RateLimit {
    if (starts < 1) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "a rate limit of %,d must be at least 1: to stop a queue, pause it".formatted(starts));
    }
    if (period.compareTo(SHORTEST) < 0 || period.compareTo(LONGEST) > 0) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "the period of a rate limit, %s, must be from a millisecond to a year".formatted(period));
    }
  }
}
