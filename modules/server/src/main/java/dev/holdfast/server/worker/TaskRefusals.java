package dev.holdfast.server.worker;

import dev.holdfast.contract.token.TaskScope;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.queue.Queries;
import dev.holdfast.server.http.Problem;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Explains to the worker of a task why a callback was refused. The decision is the database's: it
 * was made by the statement that would have written.
 */
public final class TaskRefusals {
  private static final Logger log = LoggerFactory.getLogger(TaskRefusals.class);

  /** Failures that end an attempt because its worker, or its task, took too long. */
  private static final Set<String> OUT_OF_TIME =
      Set.of(
          Failure.HEARTBEAT_TIMEOUT,
          Failure.TOXIC_JOB,
          Failure.CANCEL_TIMEOUT,
          Failure.DEADLINE_EXCEEDED,
          Failure.ATTEMPT_TIMEOUT);

  private static final String TIMED_OUT = "the task exceeded its heartbeat timeout";

  private final Queries queries;
  private final Late late;

  /** Is called for every callback that is refused because it came too late. */
  public interface Late {
    void refused(String callback, Lease lease);
  }

  public TaskRefusals(Queries queries, Late late) {
    this.queries = queries;
    this.late = late;
  }

  /** The holder, if the attempt that the body names is the one that the token is for. */
  static LeaseHolder.Token holder(TaskTokens.Read token, int attempt, @Nullable String attemptId) {
    TaskScope scope = token.scope();
    if (scope.attempt() != attempt) {
      throw new Problem(
          403,
          "token_scope",
          "this token is for attempt %d, not %d".formatted(scope.attempt(), attempt));
    }
    if (attemptId != null && !attemptId.equals(scope.attemptId())) {
      throw new Problem(
              409, "attempt_mismatch", "attemptId names another attempt than attempt and token do")
          .with("expectedAttempt", scope.attempt())
          .with("receivedAttempt", attempt)
          .with("expectedAttemptId", scope.attemptId())
          .with("receivedAttemptId", Text.excerpt(attemptId, Limits.KEY_CHARS));
    }
    return new LeaseHolder.Token(scope);
  }

  /** For reads: a write is fenced by its own statement. */
  void mustHold(String callback, Lease lease) {
    @Nullable JobStateSnapshot snapshot = currentState(lease);
    if (snapshot == null
        || snapshot.attempt() != lease.attempt()
        || snapshot.state() != JobState.RUNNING) {
      throw lost(callback, lease);
    }
  }

  /** Why the attempt does not hold its task. */
  Problem lost(String callback, Lease lease) {
    late.refused(callback, lease);
    @Nullable JobStateSnapshot snapshot = currentState(lease);
    log.info("{} of {} came too late: {}", callback, lease, snapshot);
    if (snapshot == null) {
      return Problem.notFound("the task does not exist any more");
    }
    if (snapshot.attempt() != lease.attempt()) {
      return new Problem(
              409,
              "attempt_mismatch",
              "attempt %d is the current one".formatted(snapshot.attempt()))
          .with("expectedAttempt", snapshot.attempt())
          .with("receivedAttempt", lease.attempt());
    }
    // The row of a task that succeeded may still have the failure of an earlier attempt.
    boolean expired =
        !snapshot.state().isTerminal()
            || (snapshot.state() == JobState.FAILED
                && snapshot.failureCode() != null
                && OUT_OF_TIME.contains(snapshot.failureCode()));
    // To a heartbeat the contract answers 410 alone, whatever ended the task.
    if (!snapshot.state().isTerminal()
        || callback.equals("heartbeat")
        || (expired && !callback.equals("completed"))) {
      Problem gone = expired(lease, expired);
      return snapshot.state().isTerminal() ? gone.with("state", snapshot.state().name()) : gone;
    }
    return terminal(snapshot.state(), "the task has ended already");
  }

  /** Always {@code task_expired}; the message and the reason say what ended the attempt. */
  private Problem expired(Lease lease, boolean expired) {
    @Nullable Attempt ended = queries.ended(lease).orElse(null);
    @Nullable Failure failure = ended == null ? null : ended.failure();
    String why = ended == null && !expired ? "the task has ended already" : why(ended, failure);
    Problem problem = new Problem(410, "task_expired", why);
    return failure == null ? problem : problem.with("reason", failure.code());
  }

  private static String why(@Nullable Attempt ended, @Nullable Failure failure) {
    if (ended == null) {
      return "this attempt does not hold the task";
    }
    return switch (ended.outcome()) {
      case FAILED ->
          failure != null && failure.code().equals(Failure.DISPATCH_FAILED)
              ? "the push was answered with an error after the start"
              : why(failure);
      case SNOOZED -> why(failure);
      case CRASHED -> TIMED_OUT;
      case RELEASED ->
          failure == null ? "the attempt was released and the task requeued" : TIMED_OUT;
      case SUSPENDED -> "its handler waits, and the attempt has ended";
      case CANCELLED -> "the task was cancelled";
      case RUNNING, SUCCEEDED -> "the attempt has ended already";
    };
  }

  private static String why(@Nullable Failure failure) {
    return switch (failure == null ? "" : failure.code()) {
      case Failure.CANCEL_TIMEOUT ->
          "the task was cancelled and did not stop within its cancel grace period";
      case Failure.DEADLINE_EXCEEDED -> "the task is past its deadline";
      case Failure.ATTEMPT_TIMEOUT -> "the attempt took longer than its timeout";
      case Failure.DISPATCH_FAILED ->
          "the push was neither answered nor started in time, and the task was requeued";
      default -> "the attempt has ended already";
    };
  }

  private @Nullable JobStateSnapshot currentState(Lease lease) {
    return queries.states(List.of(lease.job())).stream().findFirst().orElse(null);
  }

  static Problem terminal(JobState state, String message) {
    return new Problem(409, "task_already_terminal", message).with("state", state.name());
  }
}
