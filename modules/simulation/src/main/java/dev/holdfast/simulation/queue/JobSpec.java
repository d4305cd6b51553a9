package dev.holdfast.simulation.queue;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.WhenDependencyFails;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

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

  public static int number(JobId id) {
    return (int) (id.value().getLeastSignificantBits() & Integer.MAX_VALUE);
  }

  public Duration deadline() {
    return Duration.ofMillis(deadlineMillis);
  }

  /** Without the deadline, which is a moment and no duration. */
  public Job job() {
    Job job =
        Job.of(kind, payload)
            .id(id(number))
            .queue(queue)
            .priority(priority)
            .delay(Duration.ofMillis(delayMillis))
            .maxAttempts(maxAttempts)
            .maxCrashes(maxCrashes);
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

  String text() {
    return String.join(
        "\t",
        List.of(
            String.valueOf(number),
            kind,
            queue,
            String.valueOf(priority),
            payload,
            String.valueOf(delayMillis),
            String.valueOf(maxAttempts),
            String.valueOf(maxCrashes),
            String.valueOf(timeoutMillis),
            String.valueOf(deadlineMillis),
            uniqueKey,
            concurrencyKey,
            String.valueOf(concurrencyLimit),
            dependsOn.stream().map(String::valueOf).collect(Collectors.joining(",")),
            whenDependencyFails.name()));
  }

  static JobSpec parse(String text) {
    String[] part = text.split("\t", -1);
    return new JobSpec(
        Integer.parseInt(part[0]),
        part[1],
        part[2],
        Integer.parseInt(part[3]),
        part[4],
        Long.parseLong(part[5]),
        Integer.parseInt(part[6]),
        Integer.parseInt(part[7]),
        Long.parseLong(part[8]),
        Long.parseLong(part[9]),
        part[10],
        part[11],
        Integer.parseInt(part[12]),
        part[13].isEmpty()
            ? List.of()
            : Arrays.stream(part[13].split(",")).map(Integer::valueOf).toList(),
        WhenDependencyFails.valueOf(part[14]));
  }
}
