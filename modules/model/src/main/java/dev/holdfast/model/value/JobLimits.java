package dev.holdfast.model.value;

import java.time.Duration;
import java.time.Instant;

/**
 * Limits on the values of a job, for every way to set them.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class JobLimits {
  private JobLimits() {}

  public static int priority(int value) {
    if (value < 0 || value > 9) {
      throw new RefusedException(
          Refusal.BAD_PRIORITY,
          "priority " + value + " must be between 0 (first) and 9 (last); the default is 5");
    }
    return value;
  }

  public static int maxAttempts(int value) {
    return within("maxAttempts", value, 1, 1_000, Refusal.BAD_BUDGET);
  }

  public static int maxCrashes(int value) {
    return within("maxCrashes", value, 0, 1_000, Refusal.BAD_BUDGET);
  }

  public static int concurrencyLimit(int value) {
    return within("concurrency limit", value, 1, 100_000, Refusal.BAD_LIMIT);
  }

  public static Duration timeout(Duration value) {
    if (value.toDays() > 365 || value.compareTo(Duration.ofMillis(1)) < 0) {
      throw new RefusedException(
          Refusal.BAD_TIMING,
          "timeout " + value + " must be a millisecond or more, and a year at most");
    }
    return value;
  }

  public static Instant runAt(Instant value) {
    return moment("runAt", value, Refusal.BAD_DELAY);
  }

  public static Instant deadline(Instant value) {
    return moment("deadline", value, Refusal.BAD_TIMING);
  }

  private static int within(String what, int value, int min, int max, Refusal refusal) {
    if (value < min || value > max) {
      throw new RefusedException(
          refusal, "%s %,d must be between %d and %,d".formatted(what, value, min, max));
    }
    return value;
  }

  private static Instant moment(String what, Instant value, Refusal refusal) {
    // PostgreSQL and Java have different largest and smallest times.
    if (value.isBefore(Instant.EPOCH) || value.getEpochSecond() > 253_402_300_799L) {
      throw new RefusedException(
          refusal, what + " " + value + " must be between the years 1970 and 9999");
    }
    return value;
  }
}
