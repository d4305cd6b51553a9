package dev.holdfast.app.config;

import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.worker.steps.Budgets;
import java.time.Duration;

/** How often a step that fails or hangs is tried again, unless its job says so itself. */
@Section(title = "Steps", key = "steps")
public record StepsConfig(
    @Declared(
            variable = "STEP_MAX_ATTEMPTS",
            value = "3",
            least = "1",
            about = "attempts of a step before its job gets a new workspace")
        int maxAttempts,
    @Declared(
            variable = "STEP_TIMEOUT_SECONDS",
            value = "15m",
            least = "1ms",
            about = "how long one attempt of a step may take")
        Duration timeout,
    @Declared(
            variable = "STEP_IDLE_TIMEOUT_SECONDS",
            value = "5m",
            least = "1ms",
            about = "how long an attempt of a step may run without a sign of life")
        Duration idleTimeout,
    // One failure is no pattern.
    @Declared(
            variable = "STEP_NO_PROGRESS_LIMIT",
            value = "2",
            least = "2",
            about = "number of equal failures in a row that count as no progress")
        int noProgressLimit,
    @Declared(
            variable = "JOB_SELF_HEAL_MAX_RESETS",
            value = "1",
            about = "new workspaces that a job gets before it is retried by its queue")
        int maxResets) {
  public Budgets budgets() {
    return new Budgets(maxAttempts, timeout, idleTimeout, noProgressLimit, maxResets);
  }
}
