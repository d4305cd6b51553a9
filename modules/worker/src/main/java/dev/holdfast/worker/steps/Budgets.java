package dev.holdfast.worker.steps;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;

/**
 * What healing may spend.
 *
 * @param stepMaxAttempts attempts of a step in one workspace: a hard reset starts the count again
 * @param stepTimeout how long one attempt may take
 * @param stepIdleTimeout how long it may give no sign of life
 * @param stepNoProgressLimit so many attempts in a row that fail alike are no progress
 * @param jobMaxResets hard resets of a job, whatever step they are for and whichever worker does
 *     them
 */
public record Budgets(
    int stepMaxAttempts,
    Duration stepTimeout,
    Duration stepIdleTimeout,
    int stepNoProgressLimit,
    int jobMaxResets) {

  public static final Budgets DEFAULT =
      new Budgets(3, Duration.ofMinutes(15), Duration.ofMinutes(5), 2, 1);

  public Budgets {
    check(stepMaxAttempts >= 1, "step_max_attempts must be 1 or more");
    check(stepTimeout.isPositive(), "step_timeout_seconds must be more than 0");
    check(stepIdleTimeout.isPositive(), "step_idle_timeout_seconds must be more than 0");
    check(stepNoProgressLimit >= 2, "step_no_progress_limit must be 2 or more: one is no pattern");
    check(jobMaxResets >= 0, "job_self_heal_max_resets must not be negative");
  }

  private static void check(boolean right, String otherwise) {
    if (!right) {
      throw new RefusedException(Refusal.BAD_BUDGET, otherwise);
    }
  }
}
