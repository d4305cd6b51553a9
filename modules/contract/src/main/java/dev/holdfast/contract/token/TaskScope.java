package dev.holdfast.contract.token;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;

/** What a task token is good for. */
public record TaskScope(String tenant, String workspace, JobId run, JobId task, int attempt) {
  /** One name for this attempt at this task. */
  public String attemptId() {
    return task + "." + attempt;
  }

  public Lease lease() {
    return new Lease(task, attempt);
  }
}
