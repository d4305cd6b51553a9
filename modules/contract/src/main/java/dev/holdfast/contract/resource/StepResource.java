package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A step of a job.
 *
 * @param checkpoint absent in lists, null where there is none
 * @param failure absent in lists, null where the last attempt did not fail
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record StepResource(
    String stepId,
    int stepIndex,
    StepState state,
    int attempt,
    int resets,
    @Nullable Integer patchBytes,
    Instant startedAt,
    @Nullable Instant finishedAt,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable JsonNode checkpoint,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable JsonNode failure) {
  public StepResource {
    Wire.present("stepId", stepId);
    Wire.present("state", state);
    Wire.present("startedAt", startedAt);
  }

  public static StepResource of(StepStatus step) {
    return of(step, Wire.treeOrNullNode(step.checkpoint()), Wire.treeOrNullNode(step.failure()));
  }

  /** As one of many: without its checkpoint and its failure. */
  public static StepResource brief(StepStatus step) {
    return of(step, null, null);
  }

  private static StepResource of(
      StepStatus step, @Nullable JsonNode checkpoint, @Nullable JsonNode failure) {
    return new StepResource(
        step.id(),
        step.index(),
        step.state(),
        step.attempt(),
        step.resets(),
        step.patchBytes(),
        step.startedAt(),
        step.finishedAt(),
        checkpoint,
        failure);
  }

  public StepStatus status() {
    return new StepStatus(
        stepId,
        stepIndex,
        state,
        attempt,
        resets,
        Wire.json(checkpoint),
        patchBytes,
        startedAt,
        finishedAt,
        Wire.json(failure));
  }

  /** The steps of a job that have begun, in their order. */
  public record Steps(List<StepResource> steps) {
    public Steps {
      steps = List.copyOf(Wire.present("steps", steps));
    }
  }
}
