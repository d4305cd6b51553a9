package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.decimal;
import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.config.file.RetryOverride;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How jobs are retried that do not say it themselves. */
public record RetriesConfig(int maxAttempts, RetryPolicy policy) {
  static final Setting<Integer> MAX_ATTEMPTS =
      Setting.of(
              "retries.maxAttempts",
              whole(1, RetryOverride.MOST_ATTEMPTS),
              "3",
              "attempts of a job; retries.kinds, retries.queues and the job itself override it")
          .named("MAX_ATTEMPTS");

  static final Setting<Duration> DELAY =
      Setting.of(
          "retries.delay",
          duration(Duration.ZERO, Duration.ofDays(Limits.DELAY_DAYS)),
          "10s",
          "longest delay after the first failure; the shortest is half of it");

  static final Setting<Double> FACTOR =
      Setting.of(
          "retries.factor",
          decimal(1, 100),
          "12",
          "factor by which the delay grows with each further failure");

  static final Setting<Duration> MAX_DELAY =
      Setting.of(
          "retries.maxDelay",
          duration(Duration.ZERO, Duration.ofDays(Limits.DELAY_DAYS)),
          "15m",
          "longest delay after any failure");

  static final Concern CONCERN =
      new Concern("Retries", List.of(MAX_ATTEMPTS, DELAY, FACTOR, MAX_DELAY), RetriesConfig::read);

  static RetriesConfig read(SettingValues values) {
    try {
      return new RetriesConfig(
          values.get(MAX_ATTEMPTS),
          new RetryPolicy(values.get(DELAY), values.get(FACTOR), values.get(MAX_DELAY)));
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }

  RetryDefaults with(List<RetryOverride> kinds, List<RetryOverride> queues) {
    try {
      return new RetryDefaults(new Retries(maxAttempts, policy), byName(kinds), byName(queues));
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }

  private Map<String, Retries> byName(List<RetryOverride> overrides) {
    Map<String, Retries> byName = new HashMap<>();
    overrides.forEach(
        each ->
            byName.put(each.name(), new Retries(each.maxAttempts(), each.delays().over(policy))));
    return byName;
  }
}
