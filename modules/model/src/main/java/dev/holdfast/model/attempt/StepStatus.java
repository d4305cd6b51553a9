package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
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

  /** Whether it is a wait like this one, and over. */
  public boolean isEndOf(Wait wait) {
    return waitEnd != null
        && waitEnd.sort() == wait.sort()
        && waitEnd.outcome() != WaitEnd.Outcome.STARTED;
  }

  /** What it is, for people. */
  public String what() {
    return waitEnd == null
        ? "a step"
        : waitEnd.outcome() == WaitEnd.Outcome.STARTED
            ? "a start of jobs"
            : "a wait of the sort " + waitEnd.sort();
  }

  /** The same, to be done again. */
  public StepStatus dropped(int attempts) {
    return new StepStatus(
        id,
        index,
        StepState.FAILED,
        attempts,
        resets,
        null,
        null,
        startedAt,
        finishedAt,
        failure,
        null);
  }
}
