package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One step of a job.
 *
 * @param index from 1, in the order in which the steps were first begun
 * @param attempt how often it was begun, on whatever worker
 * @param resets how often the job was reset for its sake
 * @param checkpoint what it left when it was done, for those who go on from there
 * @param patchBytes how large its patch is; null when it has none
 * @param failure how its last attempt failed, as the timeline has it; null when it did not
 */
public record StepStatus(
    String id,
    int index,
    StepState state,
    int attempt,
    int resets,
    @Nullable Json checkpoint,
    @Nullable Integer patchBytes,
    Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable Json failure) {

  public boolean isDone() {
    return state == StepState.DONE;
  }
}
