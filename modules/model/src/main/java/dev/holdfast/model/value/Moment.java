package dev.holdfast.model.value;

import java.time.Duration;
import java.time.Instant;

/**
 * The jobs that ended within a short span, of all queues.
 *
 * @param at the start of the span, by the database's clock
 * @param run the total duration of the last attempts of jobs that succeeded
 * @param waited the total time that these jobs were due before that attempt
 */
public record Moment(
    Instant at,
    long succeeded,
    long failed,
    long cancelled,
    Duration run,
    Duration longestRun,
    Duration waited,
    Duration longestWait) {
  public static Moment none(Instant at) {
    return new Moment(at, 0, 0, 0, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);
  }

  /** Both together, as one span that began when this one did. */
  public Moment plus(Moment other) {
    return new Moment(
        at,
        succeeded + other.succeeded,
        failed + other.failed,
        cancelled + other.cancelled,
        run.plus(other.run),
        longer(longestRun, other.longestRun),
        waited.plus(other.waited),
        longer(longestWait, other.longestWait));
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
