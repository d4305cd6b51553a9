package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.JobId;
import java.util.List;

/** The answer to one job that was enqueued. */
public record EnqueuedResource(JobId id, boolean duplicate) {
  public EnqueuedResource {
    Wire.present("id", id);
  }

  public static EnqueuedResource of(Enqueued enqueued) {
    return new EnqueuedResource(enqueued.id(), enqueued.duplicate());
  }

  public Enqueued enqueued() {
    return new Enqueued(id, duplicate);
  }

  /** One answer per job, in their order. */
  public record Batch(List<EnqueuedResource> jobs) {
    public Batch {
      jobs = List.copyOf(Wire.present("jobs", jobs));
    }
  }
}
