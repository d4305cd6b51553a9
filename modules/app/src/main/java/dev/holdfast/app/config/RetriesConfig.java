package dev.holdfast.app.config;

import dev.holdfast.app.config.file.RetryOverride;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
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
@Section(title = "Retries", key = "retries")
public record RetriesConfig(
    @Declared(
            variable = "MAX_ATTEMPTS",
            value = "3",
            least = "1",
            most = "" + RetryOverride.MOST_ATTEMPTS,
            about =
                "attempts of a job; retries.kinds, retries.queues and the job itself override it")
        int maxAttempts,
    @Declared(
            value = "10s",
            most = Limits.DELAY_DAYS + "d",
            about = "longest delay after the first failure; the shortest is half of it")
        Duration delay,
    @Declared(
            value = "12",
            least = "1",
            most = "100",
            about = "factor by which the delay grows with each further failure")
        double factor,
    @Declared(
            value = "15m",
            most = Limits.DELAY_DAYS + "d",
            about = "longest delay after any failure")
        Duration maxDelay) {
  public RetriesConfig {
    var unused = new RetryPolicy(delay, factor, maxDelay);
  }

  RetryPolicy policy() {
    return new RetryPolicy(delay, factor, maxDelay);
  }

  RetryDefaults with(List<RetryOverride> kinds, List<RetryOverride> queues) {
    try {
      return new RetryDefaults(new Retries(maxAttempts, policy()), byName(kinds), byName(queues));
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }

  private Map<String, Retries> byName(List<RetryOverride> overrides) {
    Map<String, Retries> byName = new HashMap<>();
    overrides.forEach(
        each ->
            byName.put(each.name(), new Retries(each.maxAttempts(), each.delays().over(policy()))));
    return byName;
  }
}
