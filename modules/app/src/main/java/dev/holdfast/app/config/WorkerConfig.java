package dev.holdfast.app.config;

import static dev.holdfast.app.setting.SettingType.LIST;
import static dev.holdfast.app.setting.SettingType.TEXT;
import static dev.holdfast.app.setting.SettingType.duration;
import static dev.holdfast.app.setting.SettingType.oneOf;
import static dev.holdfast.app.setting.SettingType.whole;

import dev.holdfast.app.config.file.QueueSettings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.setting.Concern;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingType;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.config.FailureLog;
import dev.holdfast.worker.config.WorkerOptions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What a worker serves.
 *
 * @param processes how many of them a supervisor runs for each queue
 * @param javaOptions further options of Java for those processes
 */
public record WorkerConfig(
    List<String> queues,
    int concurrency,
    int processes,
    List<String> javaOptions,
    Duration pollInterval,
    Duration shutdownTimeout,
    Duration unknownKindTimeout,
    FailureLog failureLog) {
  public static final Setting<List<String>> QUEUES =
      Setting.of("worker.queues", LIST, "default", "queues that a worker serves, in turn");

  public static final Setting<Integer> CONCURRENCY =
      Setting.of("worker.concurrency", whole(1, 100_000), "10", "jobs that a worker runs at once")
          .named("MAX_CONCURRENCY");

  public static final Setting<Integer> PROCESSES =
      Setting.of(
          "worker.processes",
          whole(0, QueueSettings.MOST_PROCESSES),
          "1",
          "worker processes that a supervisor runs for each queue; queues.{queue}.processes"
              + " overrides it");

  static final Setting<String> JAVA_OPTIONS =
      Setting.of(
          "worker.javaOptions",
          TEXT,
          "further options of Java for the processes of a supervisor, such as -Xmx512m");

  static final Setting<Duration> POLL_INTERVAL =
      Setting.of(
          "worker.pollInterval",
          duration(Duration.ofMillis(1), Duration.ofDays(1)),
          "1s",
          "how often a worker looks for jobs that no notification announced");

  public static final Setting<Duration> SHUTDOWN_TIMEOUT =
      Setting.of(
              "worker.shutdownTimeout",
              duration(Duration.ZERO, SettingType.YEAR),
              "30s",
              "how long running jobs may take to finish at shutdown")
          .named("SHUTDOWN_TIMEOUT_SEC", "s");

  static final Setting<Duration> UNKNOWN_KIND_TIMEOUT =
      Setting.of(
          "worker.unknownKindTimeout",
          duration(Duration.ZERO, SettingType.YEAR),
          "5m",
          "a job fails when no live worker has had a handler for its kind for this long");

  static final Setting<String> FAILURE_LOG =
      Setting.of(
          "worker.failureLog",
          oneOf("error", "warn", "info", "debug", "off"),
          "warn",
          "at which level a failed attempt is logged, with its message and its stack trace");

  static final Concern CONCERN =
      new Concern(
          "Worker",
          List.of(
              QUEUES,
              CONCURRENCY,
              PROCESSES,
              JAVA_OPTIONS,
              POLL_INTERVAL,
              SHUTDOWN_TIMEOUT,
              UNKNOWN_KIND_TIMEOUT,
              FAILURE_LOG),
          WorkerConfig::read);

  public WorkerConfig {
    queues = List.copyOf(queues);
    javaOptions = List.copyOf(javaOptions);
    WorkerOptions.checkQueues(queues);
  }

  static WorkerConfig read(SettingValues values) {
    try {
      return new WorkerConfig(
          values.get(QUEUES),
          values.get(CONCURRENCY),
          values.get(PROCESSES),
          Stream.of(values.get(JAVA_OPTIONS).split("\\s+", -1))
              .filter(option -> !option.isEmpty())
              .toList(),
          values.get(POLL_INTERVAL),
          values.get(SHUTDOWN_TIMEOUT),
          values.get(UNKNOWN_KIND_TIMEOUT),
          FailureLog.valueOf(values.get(FAILURE_LOG).toUpperCase(Locale.ROOT)));
    } catch (RefusedException wrong) {
      throw CommandException.misconfigured(wrong);
    }
  }
}
