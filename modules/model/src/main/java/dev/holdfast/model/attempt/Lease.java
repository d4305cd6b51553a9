package dev.holdfast.model.attempt;

import dev.holdfast.model.job.JobId;

/** The right to run one attempt of one job. The attempt is the fence: it only ever goes up. */
public record Lease(JobId job, int attempt) {
  public Lease {
    if (attempt < 1) {
      throw new IllegalArgumentException("attempt " + attempt + " was never claimed");
    }
  }

  @Override
  public String toString() {
    return job + "#" + attempt;
  }
}
