package dev.holdfast.model.job;

/** What a cancel came to, for one job. */
public record Cancellation(JobId job, JobState previousState, Outcome outcome) {
  /** The possible ends. */
  public enum Outcome {
    /** It was not running, and never will. */
    CANCELLED,
    /** It is running; its worker was asked to stop. */
    REQUESTED,
    ALREADY_REQUESTED,
    /** Refused: the job has ended. */
    ALREADY_TERMINAL
  }
}
