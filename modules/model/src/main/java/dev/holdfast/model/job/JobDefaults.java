package dev.holdfast.model.job;

import dev.holdfast.model.value.JobLimits;
import dev.holdfast.model.value.Limits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What holds for the jobs of a kind that do not say it themselves: {@code
 * JobDefaults.NONE.queue("mail").maxAttempts(5)}. What is null is left to the settings of the
 * queue, {@link RetryDefaults}, and to the defaults of {@link Job}.
 */
public record JobDefaults(
    @Nullable String queue,
    @Nullable Integer priority,
    @Nullable Integer maxAttempts,
    @Nullable Integer maxCrashes,
    @Nullable Duration timeout) {
  /** No values, to begin with. */
  public static final JobDefaults NONE = new JobDefaults(null, null, null, null, null);

  public JobDefaults {
    if (queue != null) {
      Limits.queue(queue);
    }
    if (priority != null) {
      JobLimits.priority(priority);
    }
    if (maxAttempts != null) {
      JobLimits.maxAttempts(maxAttempts);
    }
    if (maxCrashes != null) {
      JobLimits.maxCrashes(maxCrashes);
    }
    if (timeout != null) {
      JobLimits.timeout(timeout);
    }
  }

  /** The queue that they go to. */
  public JobDefaults queue(String value) {
    return new JobDefaults(value, priority, maxAttempts, maxCrashes, timeout);
  }

  /** From 0, first, to 9, last. */
  public JobDefaults priority(int value) {
    return new JobDefaults(queue, value, maxAttempts, maxCrashes, timeout);
  }

  /** How many attempts may fail, the first included. */
  public JobDefaults maxAttempts(int value) {
    return new JobDefaults(queue, priority, value, maxCrashes, timeout);
  }

  /** How often a job is requeued after a crash of its worker. */
  public JobDefaults maxCrashes(int value) {
    return new JobDefaults(queue, priority, maxAttempts, value, timeout);
  }

  /** How long one attempt may take. */
  public JobDefaults timeout(Duration value) {
    return new JobDefaults(queue, priority, maxAttempts, maxCrashes, value);
  }
}
