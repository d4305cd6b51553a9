package dev.holdfast.worker.steps;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Plural;
import java.util.List;
import java.util.function.Predicate;

/**
 * What comes before an attempt, and after a failed one. Pure functions: the loop only carries them
 * out.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 *
 * @param failureClass that of the attempt, or {@link FailureClass#STUCK_NO_PROGRESS} when it fails
 *     like those before it
 * @param because for people
 */
public record StepDecision(Strategy strategy, FailureClass failureClass, String because) {

  /** How the next attempt begins. */
  public enum Opening {
    /** Not while a pause or a takeover lasts. */
    WAIT,
    /** By itself. */
    BEGIN,
    /** For an operator, in the same workspace, with budgets untouched. */
    RETRY,
    /** For an operator, from a clean start. */
    HARD_RESET,
    /** Not at all: an operator has done the step by hand. */
    ACCEPT,
    /** An operator wants to continue at an earlier step. */
    ELSEWHERE
  }

  /**
   * Commands of operators come before the decisions of the loop; a command for a later step waits
   * for it.
   *
   * @param isEarlier whether a step comes before this one
   */
  public static Opening before(PendingCommand asked, String step, Predicate<String> isEarlier) {
    PendingCommand.Recovery recovery = asked.recovery();
    if (asked.holds()) {
      return Opening.WAIT;
    }
    if (recovery == null || !recovery.concerns(step, isEarlier)) {
      return Opening.BEGIN;
    }
    if (recovery.stepId().equals(step)) {
      return recovery.action() == CommandAction.ACCEPT_STEP
          ? Opening.ACCEPT
          : recovery.action() == CommandAction.RETRY_STEP ? Opening.RETRY : Opening.HARD_RESET;
    }
    return Opening.ELSEWHERE;
  }

  /**
   * @param failed the step's failed attempts in this workspace, oldest first; at least one
   * @param resets how many hard resets the job has had
   */
  public static StepDecision after(List<FailedAttempt> failed, int resets, Budgets budgets) {
    FailedAttempt last = failed.getLast();
    if (!last.failureClass().isRetryable()) {
      return new StepDecision(
          Strategy.FAIL, last.failureClass(), "a retry would fail the same way");
    }
    int alike = alike(failed);
    if (alike >= budgets.stepNoProgressLimit()) {
      return within(
          resets,
          budgets,
          FailureClass.STUCK_NO_PROGRESS,
          alike == 1 ? "an attempt failed" : alike + " attempts in a row failed alike");
    }
    if (failed.size() < budgets.stepMaxAttempts()) {
      return new StepDecision(
          Strategy.SOFT_RESET,
          last.failureClass(),
          "attempt %d of %d failed".formatted(failed.size(), budgets.stepMaxAttempts()));
    }
    return within(
        resets,
        budgets,
        last.failureClass(),
        budgets.stepMaxAttempts() == 1
            ? "the only attempt failed"
            : "all %d attempts failed".formatted(budgets.stepMaxAttempts()));
  }

  /** After an attempt that has left no workspace: there is nothing to try it again in. */
  public static StepDecision withoutWorkspace(FailedAttempt last, int resets, Budgets budgets) {
    return last.failureClass().isRetryable()
        ? within(resets, budgets, last.failureClass(), "the workspace is gone")
        : after(List.of(last), resets, budgets);
  }

  private static StepDecision within(int resets, Budgets budgets, FailureClass kind, String why) {
    return resets < budgets.jobMaxResets()
        ? new StepDecision(Strategy.HARD_RESET, kind, why)
        : new StepDecision(
            Strategy.QUEUE_RETRY,
            kind,
            why + " and the job has had its " + Plural.of(budgets.jobMaxResets(), "hard reset"));
  }

  /** How many of the last attempts failed like the last one. */
  private static int alike(List<FailedAttempt> failed) {
    FailedAttempt last = failed.getLast();
    int alike = 0;
    for (int i = failed.size() - 1; i >= 0 && failed.get(i).isLike(last); i--) {
      alike++;
    }
    return alike;
  }

  /**
   * How the job fails whose step cannot be healed here: back to the queue, or for good.
   *
   * @param lastLines what it printed last, kept where other failures have their stack trace
   */
  FailedException failure(String step, String message, String lastLines) {
    FailureCategory category =
        switch (failureClass) {
          case TRANSIENT_RUNTIME -> FailureCategory.USER_CODE;
          case STUCK_NO_PROGRESS -> FailureCategory.TIMEOUT;
          case DETERMINISTIC_CONTRACT -> FailureCategory.DATA_QUALITY;
          case DETERMINISTIC_POLICY, DETERMINISTIC_REPO -> FailureCategory.CONFIGURATION;
        };
    return new FailedException(
        new Failure(
            category,
            failureClass.name(),
            "step '%s': %s: %s".formatted(step, because, message),
            lastLines.isEmpty() ? null : lastLines,
            strategy == Strategy.QUEUE_RETRY));
  }
}
