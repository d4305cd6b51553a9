package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.WaitEnd;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One step of a job.
 *
 * @param index from 1, in the order in which the steps were first started
 * @param attempt how often it was started, on any worker
 * @param resets how often the job got a new workspace because of it
 * @param checkpoint its result, from which a later attempt continues
 * @param patchBytes how large its patch is; null when it has none
 * @param waitEnd how a wait that is over has ended; null for a step that is none
 * @param failure how its last attempt failed, as in the timeline; null when it did not fail
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
    @Nullable Json failure,
    @Nullable WaitEnd waitEnd) {

  public boolean isDone() {
    return state == StepState.DONE;
  }
}
