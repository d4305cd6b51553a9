package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.duration;

import dev.holdfast.JobRetention;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.job.JobState;
import java.time.Duration;
import java.util.List;

/** At which age jobs that have ended are deleted. */
public record RetentionConfig(Duration succeeded, Duration cancelled, Duration failed) {
  static final Setting<Duration> SUCCEEDED = age("succeeded", "7d");
  static final Setting<Duration> CANCELLED = age("cancelled", "30d");
  static final Setting<Duration> FAILED = age("failed", "30d");

  static final Concern CONCERN =
      new Concern("Retention", List.of(SUCCEEDED, CANCELLED, FAILED), RetentionConfig::read);

  private static Setting<Duration> age(String state, String defaultText) {
    return Setting.of(
        "retention." + state,
        duration(Duration.ZERO, Duration.ofDays(36_500)),
        defaultText,
        "age at which jobs that %s are deleted"
            .formatted(state.equals("cancelled") ? "were cancelled" : state));
  }

  static RetentionConfig read(SettingValues values) {
    return new RetentionConfig(values.get(SUCCEEDED), values.get(CANCELLED), values.get(FAILED));
  }

  public JobRetention policy() {
    return JobRetention.NONE
        .keep(JobState.SUCCEEDED, succeeded)
        .keep(JobState.CANCELLED, cancelled)
        .keep(JobState.FAILED, failed);
  }
}
