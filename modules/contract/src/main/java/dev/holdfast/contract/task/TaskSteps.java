package dev.holdfast.contract.task;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.value.Json;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The steps of a task, in their order. */
public record TaskSteps(List<Entry> steps) {
  public static TaskSteps of(List<StepStatus> steps) {
    return new TaskSteps(steps.stream().map(Entry::of).toList());
  }

  /**
   * One step.
   *
   * @param attempt how often it was begun, on whatever worker
   * @param checkpoint what it left when it was done
   * @param failure how its last attempt failed
   */
  public record Entry(
      String stepId,
      int stepIndex,
      StepState state,
      int attempt,
      int resets,
      @Nullable Json checkpoint,
      @Nullable Integer patchBytes,
      Instant startedAt,
      @Nullable Instant finishedAt,
      @Nullable Json failure) {
    private static Entry of(StepStatus step) {
      return new Entry(
          step.id(),
          step.index(),
          step.state(),
          step.attempt(),
          step.resets(),
          step.checkpoint(),
          step.patchBytes(),
          step.startedAt(),
          step.finishedAt(),
          step.failure());
    }

    public StepStatus status() {
      return new StepStatus(
          stepId,
          stepIndex,
          state,
          attempt,
          resets,
          checkpoint,
          patchBytes,
          startedAt,
          finishedAt,
          failure);
    }
  }
}
