package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.util.List;

/**
 * What became of the cancellation of one job.
 *
 * @param previousState the state it was in
 */
public record CancellationResource(JobId id, JobState previousState, Cancellation.Outcome outcome) {
  public CancellationResource {
    Wire.present("id", id);
    Wire.present("previousState", previousState);
    Wire.present("outcome", outcome);
  }

  public static CancellationResource of(Cancellation cancellation) {
    return new CancellationResource(
        cancellation.job(), cancellation.previousState(), cancellation.outcome());
  }

  public Cancellation cancellation() {
    return new Cancellation(id, previousState, outcome);
  }

  /** Those of a job and its children. */
  public record Cancellations(List<CancellationResource> jobs) {
    public Cancellations {
      jobs = List.copyOf(Wire.present("jobs", jobs));
    }
  }
}
