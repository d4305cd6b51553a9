package dev.holdfast.model.attempt;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.wait.WaitSort;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a wait has ended.
 *
 * @param by who has sent the signal, or decided; null for nobody
 * @param at when it was decided
 * @param comment on the decision
 * @param job the job that has ended first, where the wait was for that, or that has not succeeded
 * @param jobs how many jobs were started
 */
public record WaitEnd(
    WaitSort sort,
    Outcome outcome,
    @Nullable String by,
    @Nullable Instant at,
    @Nullable String comment,
    @Nullable JobId job,
    @Nullable Integer jobs) {
  /** What has ended it. */
  public enum Outcome {
    /** The time for which it slept is over. */
    TIME,
    SIGNAL,
    /** Nothing came in time. */
    TIMEOUT,
    APPROVED,
    REJECTED,
    /** The jobs have ended. */
    ENDED,
    /** One of the jobs has not succeeded. */
    FAILED,
    /** No wait: the jobs were started. */
    STARTED
  }
}
