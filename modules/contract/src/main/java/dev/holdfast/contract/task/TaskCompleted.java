package dev.holdfast.contract.task;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An attempt has ended, one way or another.
 *
 * @param result another name of the output; null once it has been read as that
 * @param payload of the job that goes on, for {@link Outcome#CONTINUED}
 * @param delayMs until the next attempt, for {@link Outcome#SNOOZED}
 */
public record TaskCompleted(
    int attempt,
    @Nullable String attemptId,
    String workerId,
    Outcome outcome,
    @Nullable Instant completedAt,
    @Nullable Json output,
    @Nullable Json result,
    @Nullable Json payload,
    @Nullable TaskError error,
    @Nullable Json metrics,
    @Nullable String cancelledDuringPhase,
    @Nullable Json partialProgress,
    @Nullable Long delayMs) {
  /** How. */
  public enum Outcome {
    SUCCEEDED,
    /** The job succeeds, and another one goes on in its place. */
    CONTINUED,
    FAILED,
    CANCELLED,
    /** Comes back later without using budget. */
    SNOOZED,
    /** Given back unharmed, by a worker that stops. */
    RELEASED;

    /** Whether the job goes back to its queue, as if it had not been leased. */
    public boolean isReleased() {
      return this == SNOOZED || this == RELEASED;
    }
  }

  /**
   * What went wrong, for {@link Outcome#FAILED}.
   *
   * @param retryable as the category says, unless given
   * @param retryAfterMs how long to wait before the next attempt, unless the queue is to decide
   */
  public record TaskError(
      FailureCategory category,
      @Nullable String code,
      String message,
      @Nullable String stackTrace,
      @Nullable Boolean retryable,
      @Nullable Long retryAfterMs) {
    public TaskError {
      Wire.present("error.category", category);
      Fields.wellFormed("error.message", Wire.present("error.message", message));
      Fields.wellFormed("error.stackTrace", stackTrace);
      if (code != null) {
        Limits.word("error.code", code);
      }
      if (retryAfterMs != null && retryAfterMs < 0) {
        throw Fields.wrong("error.retryAfterMs", "must be zero or more");
      }
    }

    public Failure failure() {
      return failure(category, code, message, stackTrace, retryable);
    }

    /** What is left out is as the category says. */
    public static Failure failure(
        FailureCategory category,
        @Nullable String code,
        String message,
        @Nullable String stackTrace,
        @Nullable Boolean retryable) {
      Failure failure =
          Failure.of(category, code == null ? Failure.HANDLER_FAILED : code, message)
              .withStackTrace(stackTrace);
      return retryable == null ? failure : failure.withRetryable(retryable);
    }
  }

  public TaskCompleted {
    Fields.attempt(attempt);
    Fields.worker(workerId);
    Wire.present("outcome", outcome);
    if (outcome == Outcome.FAILED) {
      Wire.present("error", error);
    } else if (error != null) {
      throw Fields.wrong("error", "belongs to the outcome FAILED");
    }
    if (result != null) {
      if (output != null && !output.equals(result)) {
        throw Fields.wrong("result", "is another name of output, which is given and differs");
      }
      output = result;
      result = null;
    }
    if (output != null && outcome != Outcome.SUCCEEDED) {
      throw Fields.wrong("output", "belongs to the outcome SUCCEEDED");
    }
    if (outcome == Outcome.CONTINUED) {
      Wire.present("payload", payload);
    } else if (payload != null) {
      throw Fields.wrong("payload", "belongs to the outcome CONTINUED");
    }
    if (outcome == Outcome.SNOOZED) {
      Wire.present("delayMs", delayMs);
    } else if (delayMs != null) {
      throw Fields.wrong("delayMs", "belongs to the outcome SNOOZED");
    }
    if (outcome.isReleased() && metrics != null) {
      throw Fields.wrong("metrics", "does not belong to this outcome");
    }
    cancelledDuringPhase = Fields.shortened(cancelledDuringPhase, Limits.NAME_CHARS);
    metrics = Fields.orNote("metrics", metrics);
    partialProgress = Fields.orNote("partialProgress", partialProgress);
  }

  /**
   * What it is answered.
   *
   * @param finalState the state that the task is in because of it: RETRYING, for one, when it
   *     failed and has budget left
   */
  public record Answer(boolean acknowledged, JobState finalState, Instant serverTime) {}
}
