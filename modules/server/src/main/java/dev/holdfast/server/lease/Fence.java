package dev.holdfast.server.lease;

import dev.holdfast.contract.token.TaskScope;
import dev.holdfast.contract.token.TaskTokens;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.server.http.Problem;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Of which attempt a callback speaks, and why it was not taken. The database has decided; this only
 * explains.
 */
public final class Fence {
  private static final Logger log = LoggerFactory.getLogger(Fence.class);

  /** Ends that came because nobody was heard of the worker in time. */
  private static final Set<String> OUT_OF_TIME =
      Set.of(
          Failure.HEARTBEAT_TIMEOUT,
          Failure.TOXIC_JOB,
          Failure.CANCEL_TIMEOUT,
          Failure.DEADLINE_EXCEEDED,
          Failure.ATTEMPT_TIMEOUT);

  private final JobQueries queries;
  private final Late late;

  /** Is told of what came too late. */
  public interface Late {
    void refused(String callback, Lease lease);
  }

  public Fence(JobQueries queries, Late late) {
    this.queries = queries;
    this.late = late;
  }

  /** The token is for one attempt, and so is what comes with it. */
  Lease guarded(TaskTokens.Read token, int attempt, @Nullable String attemptId) {
    TaskScope scope = token.scope();
    if (scope.attempt() != attempt) {
      throw new Problem(
          403,
          "token_scope",
          "this token is for attempt %d, not %d".formatted(scope.attempt(), attempt));
    }
    if (attemptId != null && !attemptId.equals(scope.attemptId())) {
      throw new Problem(409, "attempt_mismatch", "this is another attempt than its name says")
          .with("expectedAttempt", scope.attempt())
          .with("receivedAttempt", attempt)
          .with("expectedAttemptId", scope.attemptId())
          .with("receivedAttemptId", Text.excerpt(attemptId, Limits.KEY_CHARS));
    }
    return scope.lease();
  }

  /** For what only looks, and so is fenced by nothing else. */
  void mustHold(String callback, Lease lease) {
    @Nullable JobStateSnapshot fate = fate(lease);
    if (fate == null || fate.attempt() != lease.attempt() || fate.state() != JobState.RUNNING) {
      throw lost(callback, lease);
    }
  }

  /** Why an attempt does not hold its task. */
  Problem lost(String callback, Lease lease) {
    late.refused(callback, lease);
    @Nullable JobStateSnapshot fate = fate(lease);
    log.info("{} of {} came too late: {}", callback, lease, fate);
    if (fate == null) {
      return Problem.notFound("there is no such task any more");
    }
    if (fate.attempt() != lease.attempt()) {
      return new Problem(
              409, "attempt_mismatch", "attempt %d is the current one".formatted(fate.attempt()))
          .with("expectedAttempt", fate.attempt())
          .with("receivedAttempt", lease.attempt());
    }
    // A task that succeeded may still carry the failure of an attempt before.
    boolean expired =
        !fate.state().isTerminal()
            || (fate.state() == JobState.FAILED
                && fate.failureCode() != null
                && OUT_OF_TIME.contains(fate.failureCode()));
    if (!fate.state().isTerminal() || (expired && !callback.equals("completed"))) {
      return expired(lease);
    }
    return terminal(fate.state(), "the task has ended already");
  }

  /** The name stays the same for workers, the sentence says what it was. */
  private Problem expired(Lease lease) {
    @Nullable Attempt ended = queries.ended(lease).orElse(null);
    @Nullable Failure failure = ended == null ? null : ended.failure();
    Problem problem = new Problem(410, "task_expired", why(ended, failure));
    return failure == null ? problem : problem.with("reason", failure.code());
  }

  private static String why(@Nullable Attempt ended, @Nullable Failure failure) {
    if (ended == null) {
      return "this attempt does not hold the task";
    }
    return switch (ended.outcome()) {
      case FAILED, SNOOZED -> failure == null ? "the attempt has ended already" : why(failure);
      case CRASHED -> "the task exceeded its heartbeat timeout";
      case RELEASED -> "the attempt was released, and the task went back to its queue";
      case CANCELLED -> "the task was cancelled";
      case RUNNING, SUCCEEDED -> "the attempt has ended already";
    };
  }

  private static String why(Failure failure) {
    return switch (failure.code()) {
      case Failure.CANCEL_TIMEOUT ->
          "the task was cancelled and did not stop within its cancel grace period";
      case Failure.DEADLINE_EXCEEDED -> "the task is past its deadline";
      case Failure.ATTEMPT_TIMEOUT -> "the attempt took longer than its timeout";
      case Failure.DISPATCH_FAILED ->
          "the push was neither answered nor started in time, and the task went back to its queue";
      default -> "the attempt has ended already";
    };
  }

  private @Nullable JobStateSnapshot fate(Lease lease) {
    return queries.states(List.of(lease.job())).stream().findFirst().orElse(null);
  }

  static Problem terminal(JobState state, String message) {
    return new Problem(409, "task_already_terminal", message).with("state", state.name());
  }
}
