package dev.holdfast.contract;

import dev.holdfast.model.JobId;
import dev.holdfast.model.Lease;

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
