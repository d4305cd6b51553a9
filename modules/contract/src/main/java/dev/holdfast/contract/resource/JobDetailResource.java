package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobDependencies;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One job with what was asked for besides; what was not is absent here, and empty in a {@link
 * JobDetail}.
 *
 * @param liveControl the commands that its worker has not executed yet; absent without any
 */
public record JobDetailResource(
    @JsonUnwrapped @Nullable JobStatus job,
    @Nullable PendingCommand liveControl,
    @Nullable List<JobEvent> events,
    @Nullable List<JobDetail.Reported> attempts,
    @Nullable List<StepStatus> steps,
    @JsonIgnoreProperties({"store", "result"}) @Nullable List<PublishedArtifact> artifacts,
    @Nullable JobDependencies dependencies) {
  public static JobDetailResource of(JobDetail detail, Set<JobDetail.Part> parts) {
    return new JobDetailResource(
        detail.job(),
        detail.pending().equals(PendingCommand.NONE) ? null : detail.pending(),
        parts.contains(JobDetail.Part.EVENTS) ? detail.events() : null,
        parts.contains(JobDetail.Part.ATTEMPTS) ? detail.attempts() : null,
        parts.contains(JobDetail.Part.STEPS) ? detail.steps() : null,
        parts.contains(JobDetail.Part.ARTIFACTS) ? detail.artifacts() : null,
        parts.contains(JobDetail.Part.DEPENDENCIES) ? detail.dependencies() : null);
  }

  /** Without the job itself. */
  public JobDetailResource only() {
    return new JobDetailResource(null, null, events, attempts, steps, artifacts, dependencies);
  }

  public JobDetail detail() {
    return new JobDetail(
        Wire.present("id", job),
        liveControl == null ? PendingCommand.NONE : liveControl,
        orNone(events),
        orNone(attempts),
        orNone(steps),
        orNone(artifacts),
        dependencies == null ? JobDependencies.NONE : dependencies);
  }

  private static <T> List<T> orNone(@Nullable List<T> part) {
    return part == null ? List.of() : part;
  }
}
