package dev.holdfast.steps;

import java.util.List;

/**
 * What comes after a failed attempt. A pure function: the loop only carries it out.
 *
 * @param failureClass that of the attempt, or {@link FailureClass#STUCK_NO_PROGRESS} when it fails
 *     like those before it
 * @param because for people
 */
public record Decision(Strategy strategy, FailureClass failureClass, String because) {

  /**
   * @param failed the step's failed attempts in this workspace, oldest first; at least one
   * @param resets how many hard resets the job has had
   */
  public static Decision after(List<FailedAttempt> failed, int resets, Budgets budgets) {
    FailedAttempt last = failed.getLast();
    if (!last.failureClass().isRetryable()) {
      return new Decision(
          Strategy.FAIL, last.failureClass(), "it would fail again, whoever tries it");
    }
    int alike = alike(failed);
    if (alike >= budgets.stepNoProgressLimit()) {
      return within(
          resets,
          budgets,
          FailureClass.STUCK_NO_PROGRESS,
          "%d attempts in a row failed alike".formatted(alike));
    }
    if (failed.size() < budgets.stepMaxAttempts()) {
      return new Decision(
          Strategy.SOFT_RESET,
          last.failureClass(),
          "attempt %d of %d failed".formatted(failed.size(), budgets.stepMaxAttempts()));
    }
    return within(
        resets,
        budgets,
        last.failureClass(),
        "all %d attempts failed".formatted(budgets.stepMaxAttempts()));
  }

  private static Decision within(int resets, Budgets budgets, FailureClass kind, String why) {
    return resets < budgets.jobMaxResets()
        ? new Decision(Strategy.HARD_RESET, kind, why)
        : new Decision(
            Strategy.QUEUE_RETRY,
            kind,
            why + " and the job has had its %d hard resets".formatted(budgets.jobMaxResets()));
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
}
