package dev.holdfast.worker.steps;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where the loop is with one step: what has happened to it, and what its next attempt is told. */
final class StepProgress<T extends @Nullable Object> {
  final Step<T> step;
  final @Nullable StepWorkspace<T> workspace;
  final Budgets budgets;
  final StepRecord record;

  /** In this workspace, oldest first. */
  final List<FailedAttempt> failed = new ArrayList<>();

  /** The last failure that this worker has seen. */
  Step.@Nullable Failed last;

  int attempt;
  Step.Operators operators = Step.Operators.NONE;
  private Step.@Nullable Failed before;
  private Step.@Nullable Failed resumedAfter;

  /**
   * @param last after a hard reset of the step this is the failure that led to it
   */
  StepProgress(Step<T> step, Budgets budgets, StepRecord record, Step.@Nullable Failed last) {
    this.step = step;
    this.workspace = step.workspace().orElse(null);
    this.budgets = budgets;
    this.record = record;
    this.last = last;
    this.attempt = step.attemptsBefore();
    this.before = workspace == null ? null : workspace.before();
  }

  void beginsInNewWorkspace() {
    failed.clear();
    operators = operators.inNewWorkspace();
  }

  void forgetFailures() {
    last = null;
    before = null;
  }

  Step.Retry retry() {
    return new Step.Retry(attempt, last == null ? before : last, operators);
  }

  /**
   * After what the job continues at this step; empty if it merely begins or repeats it.
   *
   * @param first whether this attempt of the job has begun no step before
   */
  @SuppressWarnings("ReferenceEquality") // another failure, also if it is equal
  Optional<Strategy> resumed(boolean first, boolean byOperator) {
    Step.Failed failure = last;
    boolean afterReset =
        failure != null && failure.next() == Strategy.HARD_RESET && failure != resumedAfter;
    resumedAfter = failure;
    if (byOperator || afterReset) {
      return Optional.of(Strategy.HARD_RESET);
    }
    // Its steps were begun by an earlier attempt of the job.
    return first && (step.attemptsBefore() > 0 || step.index() > 1)
        ? Optional.of(Strategy.QUEUE_RETRY)
        : Optional.empty();
  }
}
