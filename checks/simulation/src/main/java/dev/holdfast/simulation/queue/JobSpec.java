package dev.holdfast.simulation.queue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * A job to enqueue, in a form that can be written down. Numbers of 0 and empty texts mean: not
 * given.
 *
 * @param number makes the id: a job with a higher number has a higher id
 */
public record JobSpec(
    int number,
    String kind,
    String queue,
    int priority,
    String payload,
    long delayMillis,
    int maxAttempts,
    int maxCrashes,
    long timeoutMillis,
    long deadlineMillis,
    String uniqueKey,
    String concurrencyKey,
    int concurrencyLimit,
    List<Integer> dependsOn,
    WhenDependencyFails whenDependencyFails) {
  // A moment of 2026 in its first 48 bits, as the ids of real jobs have one.
  private static final long HIGH = 1_767_225_600_000L << 16 | 0x7000;
  private static final long LOW = 0x8000_0000_0000_0000L;

  public static JobSpec of(int number, String kind, String queue, String payload) {
    return new JobSpec(
        number,
        kind,
        queue,
        Job.DEFAULT_PRIORITY,
        payload,
        0,
        Job.DEFAULT_MAX_ATTEMPTS,
        Job.DEFAULT_MAX_CRASHES,
        0,
        0,
        "",
        "",
        0,
        List.of(),
        WhenDependencyFails.CANCEL);
  }

  public static JobId id(int number) {
    return new JobId(new UUID(HIGH, LOW | number));
  }

  /** Its number, or the whole id of a job that another one has started. */
  static String text(JobId id) {
    return id.equals(id(number(id))) ? String.valueOf(number(id)) : id.toString();
  }

  static JobId parse(String text) {
    return text.contains("-") ? JobId.parse(text) : id(Integer.parseInt(text));
  }

  public static int number(JobId id) {
    return (int) (id.value().getLeastSignificantBits() & Integer.MAX_VALUE);
  }

  /**
   * @param now from when on its deadline counts
   */
  public Job job(Instant now) {
    Job job =
        Job.of(kind, payload)
            .id(id(number))
            .queue(queue)
            .priority(priority)
            .delay(Duration.ofMillis(delayMillis))
            .maxAttempts(maxAttempts)
            .maxCrashes(maxCrashes);
    if (deadlineMillis > 0) {
      job = job.deadline(now.plusMillis(deadlineMillis));
    }
    if (timeoutMillis > 0) {
      job = job.timeout(Duration.ofMillis(timeoutMillis));
    }
    if (!uniqueKey.isEmpty()) {
      job = job.uniqueKey(uniqueKey);
    }
    if (!concurrencyKey.isEmpty()) {
      job = job.concurrencyKey(concurrencyKey, concurrencyLimit);
    }
    return dependsOn.isEmpty()
        ? job
        : job.dependsOn(dependsOn.stream().map(JobSpec::id).toList(), whenDependencyFails);
  }
}
