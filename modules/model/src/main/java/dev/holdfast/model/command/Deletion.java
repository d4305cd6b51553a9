package dev.holdfast.model.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;

/**
 * What became of a job that was to be deleted.
 *
 * @param state that it was in
 */
public record Deletion(JobId job, JobState state, Outcome outcome) {
  /** Whether a job was deleted. */
  public enum Outcome {
    DELETED,
    /** It runs, and nothing was deleted: cancel it first. */
    RUNNING,
    /** Others wait for how it ends, and nothing was deleted: cancel it, or delete them first. */
    AWAITED
  }
}
