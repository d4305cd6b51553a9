package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.worker.steps.Budgets;
import java.time.Duration;
import java.util.List;

/** How often a step that fails or hangs is tried again, unless its job says so itself. */
public record StepsConfig(Budgets budgets) {
  private static final int MOST = 1_000_000;

  static final Setting<Integer> MAX_ATTEMPTS =
      Setting.of(
              "steps.maxAttempts",
              whole(1, MOST),
              "3",
              "attempts of a step before its job gets a new workspace")
          .named("STEP_MAX_ATTEMPTS");

  static final Setting<Duration> TIMEOUT =
      Setting.of(
              "steps.timeout",
              duration(Duration.ofMillis(1), SettingType.YEAR),
              "15m",
              "how long one attempt of a step may take")
          .named("STEP_TIMEOUT_SECONDS", "s");

  static final Setting<Duration> IDLE_TIMEOUT =
      Setting.of(
              "steps.idleTimeout",
              duration(Duration.ofMillis(1), SettingType.YEAR),
              "5m",
              "how long an attempt of a step may run without a sign of life")
          .named("STEP_IDLE_TIMEOUT_SECONDS", "s");

  // One failure is no pattern.
  static final Setting<Integer> NO_PROGRESS_LIMIT =
      Setting.of(
              "steps.noProgressLimit",
              whole(2, MOST),
              "2",
              "number of equal failures in a row that count as no progress")
          .named("STEP_NO_PROGRESS_LIMIT");

  static final Setting<Integer> MAX_RESETS =
      Setting.of(
              "steps.maxResets",
              whole(0, MOST),
              "1",
              "new workspaces that a job gets before it is retried by its queue")
          .named("JOB_SELF_HEAL_MAX_RESETS");

  static final Concern CONCERN =
      new Concern(
          "Steps",
          List.of(MAX_ATTEMPTS, TIMEOUT, IDLE_TIMEOUT, NO_PROGRESS_LIMIT, MAX_RESETS),
          StepsConfig::read);

  static StepsConfig read(SettingValues values) {
    return new StepsConfig(
        new Budgets(
            values.get(MAX_ATTEMPTS),
            values.get(TIMEOUT),
            values.get(IDLE_TIMEOUT),
            values.get(NO_PROGRESS_LIMIT),
            values.get(MAX_RESETS)));
  }
}
