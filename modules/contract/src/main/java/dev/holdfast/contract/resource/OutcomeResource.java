package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import org.jspecify.annotations.Nullable;

/** The result of a job, or its failure. */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record OutcomeResource(
    JobState state, @Nullable JsonNode result, @Nullable Failure failure) {
  /** The failure of an attempt before the one that succeeded is left out. */
  public static OutcomeResource of(JobStatus job) {
    return new OutcomeResource(
        job.state(),
        Wire.tree(job.result()),
        job.state() == JobState.SUCCEEDED ? null : job.failure());
  }
}
