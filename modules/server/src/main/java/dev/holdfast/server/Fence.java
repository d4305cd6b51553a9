package dev.holdfast.server;

import dev.holdfast.contract.TaskScope;
import dev.holdfast.contract.TaskTokens;
import dev.holdfast.model.Failure;
import dev.holdfast.model.Fate;
import dev.holdfast.model.JobState;
import dev.holdfast.model.Lease;
import dev.holdfast.queue.Queue;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Of which attempt a callback speaks, and why it was not taken. The database has decided; this only
 * explains.
 */
final class Fence {
  private static final Logger log = LoggerFactory.getLogger(Fence.class);

  /** Ends that came because nobody was heard of the worker in time. */
  private static final Set<String> OUT_OF_TIME =
      Set.of(
          Failure.HEARTBEAT_TIMEOUT,
          Failure.TOXIC_JOB,
          Failure.CANCEL_TIMEOUT,
          Failure.DEADLINE_EXCEEDED,
          Failure.ATTEMPT_TIMEOUT);

  private final Queue queue;
  private final Late late;

  /** Is told of what came too late. */
  interface Late {
    void refused(String callback, Lease lease);
  }

  Fence(Queue queue, Late late) {
    this.queue = queue;
    this.late = late;
  }

  /** The token is for one attempt, and so is what comes with it. */
  Lease guarded(TaskTokens.Read token, int attempt) {
    TaskScope scope = token.scope();
    if (scope.attempt() != attempt) {
      throw new Problem(
          403,
          "token_scope",
          "this token is for attempt %d, not %d".formatted(scope.attempt(), attempt));
    }
    return scope.lease();
  }

  /** For what only looks, and so is fenced by nothing else. */
  void mustHold(String callback, Lease lease) {
    @Nullable Fate fate = fate(lease);
    if (fate == null || fate.attempt() != lease.attempt() || fate.state() != JobState.RUNNING) {
      throw lost(callback, lease);
    }
  }

  /** Why an attempt does not hold its task. */
  Problem lost(String callback, Lease lease) {
    late.refused(callback, lease);
    @Nullable Fate fate = fate(lease);
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
    if (expired && !callback.equals("completed")) {
      return new Problem(410, "task_expired", "the task exceeded its heartbeat timeout");
    }
    return fate.state().isTerminal()
        ? terminal(fate.state(), "the task has ended already")
        : new Problem(410, "task_expired", "the task exceeded its heartbeat timeout");
  }

  private @Nullable Fate fate(Lease lease) {
    return queue.fates(List.of(lease.job())).stream().findFirst().orElse(null);
  }

  static Problem terminal(JobState state, String message) {
    return new Problem(409, "task_already_terminal", message).with("state", state.name());
  }
}
