package dev.holdfast.app.config;

import dev.holdfast.JobRetention;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.model.job.JobState;
import java.time.Duration;

/** At which age jobs that have ended are deleted. */
@Section(title = "Retention", key = "retention")
public record RetentionConfig(
    @Declared(value = "7d", most = "36500d", about = "age at which jobs that succeeded are deleted")
        Duration succeeded,
    @Declared(
            value = "30d",
            most = "36500d",
            about = "age at which jobs that were cancelled are deleted")
        Duration cancelled,
    @Declared(value = "30d", most = "36500d", about = "age at which jobs that failed are deleted")
        Duration failed) {
  public JobRetention policy() {
    return JobRetention.NONE
        .keep(JobState.SUCCEEDED, succeeded)
        .keep(JobState.CANCELLED, cancelled)
        .keep(JobState.FAILED, failed);
  }
}
