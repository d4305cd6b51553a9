package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.time.Instant;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A step of a task began, failed or is done.
 *
 * @param attempt of the task
 * @param attemptId the same by its name
 * @param stepAttempt how often the step was begun, this time included
 * @param result the checkpoint that later attempts continue from, for {@link StepState#DONE}
 * @param strategy how this attempt came about, or what comes after one that failed
 * @param handledCommand the operator's command that this attempt executes, by its time
 * @param tookMs how long the attempt has run, where its start was not reported
 * @param version of the handler: a task that has none keeps it
 */
public record TaskStep(
    int attempt,
    @Nullable String attemptId,
    int stepIndex,
    StepState state,
    int stepAttempt,
    @Nullable Json result,
    @Nullable String failureClass,
    @Nullable String failureSignature,
    @Nullable String summary,
    @Nullable String strategy,
    @Nullable String diffHash,
    @Nullable Instant handledCommand,
    @Nullable Long tookMs,
    @Nullable Integer version) {
  private static final int MOST_ATTEMPTS = 1_000_000;
  private static final Set<String> CLASSES =
      Set.of(
          "transient_runtime",
          "stuck_no_progress",
          "deterministic_contract",
          "deterministic_policy",
          "deterministic_repo");
  private static final Set<String> STRATEGIES =
      Set.of("soft_reset", "hard_reset", "queue_retry", "fail");
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  public TaskStep {
    Fields.attempt(attempt);
    Fields.version(version);
    within("stepIndex", stepIndex, Limits.STEPS);
    within("stepAttempt", stepAttempt, MOST_ATTEMPTS);
    if (Wire.present("state", state) == StepState.INTERRUPTED) {
      throw Fields.wrong("state", "must be RUNNING, DONE or FAILED");
    }
    boolean running = state == StepState.RUNNING;
    belongs("result", result, state == StepState.DONE);
    belongs("failureClass", failureClass, state == StepState.FAILED);
    belongs("failureSignature", failureSignature, state == StepState.FAILED);
    belongs("summary", summary, !running);
    belongs("strategy", strategy, state != StepState.DONE);
    belongs("diffHash", diffHash, !running);
    belongs("handledCommand", handledCommand, running);
    Fields.took(tookMs, state);
    known("failureClass", failureClass, CLASSES);
    known("strategy", strategy, STRATEGIES);
    Fields.text("failureSignature", failureSignature, Limits.REASON_CHARS);
    Fields.text("summary", summary, Limits.MESSAGE_CHARS);
    if (diffHash != null && !SHA256.matcher(diffHash).matches()) {
      throw Fields.wrong("diffHash", "must have 64 digits, 0-9 and a-f");
    }
    if (result != null) {
      Limits.result(result);
    }
  }

  /** What it is answered. */
  public record Answer(boolean acknowledged, Instant serverTime) {}

  private static void within(String field, int value, int most) {
    if (value < 1 || value > most) {
      throw Fields.wrong(field, "must be given and be between 1 and %,d".formatted(most));
    }
  }

  private static void belongs(String field, @Nullable Object value, boolean here) {
    if (value != null && !here) {
      throw Fields.wrong(field, "does not belong to this state");
    }
  }

  private static void known(String field, @Nullable String value, Set<String> words) {
    if (value != null && !words.contains(value)) {
      throw Fields.wrong(
          field, "must be one of " + String.join(", ", words.stream().sorted().toList()));
    }
  }
}
