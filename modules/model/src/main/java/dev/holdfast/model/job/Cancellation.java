package dev.holdfast.model.job;

/** What a cancel came to, for one job. */
public record Cancellation(JobId job, JobState was, Answer answer) {
  /** The possible ends. */
  public enum Answer {
    /** It was not running, and never will. */
    CANCELLED,
    /** It is running; its worker was asked to stop. */
    REQUESTED,
    ALREADY_REQUESTED,
    /** Refused: the job has ended. */
    ALREADY_TERMINAL
  }
}
