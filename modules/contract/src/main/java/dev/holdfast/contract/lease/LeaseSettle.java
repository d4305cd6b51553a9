package dev.holdfast.contract.lease;

import dev.holdfast.contract.json.Fields;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.task.TaskCompleted;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Attempts have ended, each in its own way. */
public record LeaseSettle(List<Ending> settlements) {
  public static final int MOST = 500;

  public LeaseSettle {
    settlements = Fields.list("settlements", settlements, MOST);
  }

  /** One answer each, in their order. */
  public record Answer(List<Ack> acks) {}

  /** How. */
  public enum Outcome {
    SUCCEEDED,
    /** Succeeded, and another job goes on in its place. */
    CONTINUED,
    FAILED,
    CANCELLED,
    /** Comes back later without using budget. */
    SNOOZED,
    /** Given back unharmed. */
    RELEASED
  }

  /** What went wrong; code and retryable are as the category says, unless given. */
  public record FailureBody(
      FailureCategory category,
      @Nullable String code,
      String message,
      @Nullable String stackTrace,
      @Nullable Boolean retryable) {
    public FailureBody {
      Wire.present("error.category", category);
      Wire.present("error.message", message);
    }

    static FailureBody of(Failure failure) {
      return new FailureBody(
          failure.category(),
          failure.code(),
          failure.message(),
          failure.stackTrace(),
          failure.retryable());
    }

    Failure failure() {
      return TaskCompleted.TaskError.failure(category, code, message, stackTrace, retryable);
    }
  }

  /**
   * The end of one attempt.
   *
   * @param workerId who holds the attempt
   * @param output the result, for {@link Outcome#SUCCEEDED}
   * @param payload of the job that goes on, for {@link Outcome#CONTINUED}
   * @param error for {@link Outcome#FAILED}
   * @param partialProgress for {@link Outcome#CANCELLED}
   * @param delayMs until the next attempt, for {@link Outcome#SNOOZED}, and for {@link
   *     Outcome#FAILED} unless the queue is to decide
   * @param abortedByShutdown for {@link Outcome#RELEASED}
   * @param metrics what the attempt used, for those that are over: not released, not snoozed
   */
  public record Ending(
      JobId taskId,
      int attempt,
      String workerId,
      Outcome outcome,
      @Nullable Json output,
      @Nullable Json payload,
      @Nullable FailureBody error,
      @Nullable Json partialProgress,
      @Nullable Long delayMs,
      @Nullable Boolean abortedByShutdown,
      @Nullable Json metrics) {
    public Ending {
      Wire.present("taskId", taskId);
      Fields.attempt(attempt);
      Fields.worker(workerId);
      Wire.present("outcome", outcome);
      belongs("output", output, outcome == Outcome.SUCCEEDED);
      belongs("payload", payload, outcome == Outcome.CONTINUED);
      belongs("error", error, outcome == Outcome.FAILED);
      belongs("partialProgress", partialProgress, outcome == Outcome.CANCELLED);
      belongs("delayMs", delayMs, outcome == Outcome.FAILED || outcome == Outcome.SNOOZED);
      belongs("abortedByShutdown", abortedByShutdown, outcome == Outcome.RELEASED);
      belongs("metrics", metrics, outcome != Outcome.SNOOZED && outcome != Outcome.RELEASED);
      metrics = Fields.orNote("metrics", metrics);
      if (outcome == Outcome.CONTINUED) {
        Wire.present("payload", payload);
      }
      if (outcome == Outcome.FAILED) {
        Wire.present("error", error);
      }
      if (outcome == Outcome.SNOOZED) {
        Wire.present("delayMs", delayMs);
      }
    }

    private static void belongs(String field, @Nullable Object value, boolean here) {
      if (value != null && !here) {
        throw Fields.wrong(field, "does not belong to this outcome");
      }
    }

    public static Ending of(Settlement settlement, String worker) {
      JobId task = settlement.lease().job();
      int attempt = settlement.lease().attempt();
      return switch (settlement) {
        case Settlement.Succeed(var lease, var result) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.SUCCEEDED,
                result,
                null,
                null,
                null,
                null,
                null,
                null);
        case Settlement.Continue(var lease, var payload) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.CONTINUED,
                null,
                payload,
                null,
                null,
                null,
                null,
                null);
        case Settlement.Fail(var lease, var failure, var after) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.FAILED,
                null,
                null,
                FailureBody.of(failure),
                null,
                after == null ? null : Long.valueOf(after.toMillis()),
                null,
                null);
        case Settlement.Cancel(var lease, var partial) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.CANCELLED,
                null,
                null,
                null,
                partial,
                null,
                null,
                null);
        case Settlement.Snooze(var lease, var delay) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.SNOOZED,
                null,
                null,
                null,
                null,
                delay.toMillis(),
                null,
                null);
        case Settlement.Release(var lease, var aborted) ->
            new Ending(
                task,
                attempt,
                worker,
                Outcome.RELEASED,
                null,
                null,
                null,
                null,
                null,
                aborted ? Boolean.TRUE : null,
                null);
      };
    }

    public Settlement settlement() {
      Lease lease = new Lease(taskId, attempt);
      return switch (outcome) {
        case SUCCEEDED -> new Settlement.Succeed(lease, output);
        case CONTINUED -> new Settlement.Continue(lease, Wire.present("payload", payload));
        case FAILED ->
            new Settlement.Fail(
                lease, Wire.present("error", error).failure(), delayMs == null ? null : delay());
        case CANCELLED -> new Settlement.Cancel(lease, partialProgress);
        case SNOOZED -> new Settlement.Snooze(lease, delay());
        case RELEASED -> new Settlement.Release(lease, Boolean.TRUE.equals(abortedByShutdown));
      };
    }

    private Duration delay() {
      return Duration.ofMillis(Wire.present("delayMs", delayMs));
    }
  }
}
