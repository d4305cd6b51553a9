package dev.holdfast.app.config;

import dev.holdfast.app.config.file.QueueSettings;
import dev.holdfast.app.setting.Declared;
import dev.holdfast.app.setting.Section;
import dev.holdfast.worker.config.FailureLog;
import dev.holdfast.worker.config.WorkerOptions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What a worker serves. */
@Section(title = "Worker", key = "worker")
public record WorkerConfig(
    @Declared(value = "default", about = "queues that a worker serves, in turn")
        List<String> queues,
    @Declared(
            variable = "MAX_CONCURRENCY",
            value = "10",
            least = "1",
            most = "100000",
            about = "jobs that a worker runs at once")
        int concurrency,
    @Declared(
            value = "1",
            most = "" + QueueSettings.MOST_PROCESSES,
            about =
                "worker processes that a supervisor runs for each queue; queues.{queue}.processes"
                    + " overrides it")
        int processes,
    @Declared(about = "further options of Java for the processes of a supervisor, such as -Xmx512m")
        String javaOptions,
    @Declared(
            value = "1s",
            least = "1ms",
            most = "1d",
            about = "how often a worker looks for jobs that no notification announced")
        Duration pollInterval,
    @Declared(
            variable = "SHUTDOWN_TIMEOUT_SEC",
            value = "30s",
            about = "how long running jobs may take to finish at shutdown")
        Duration shutdownTimeout,
    @Declared(
            value = "5m",
            about = "a job fails when no live worker has had a handler for its kind for this long")
        Duration unknownKindTimeout,
    @Declared(
            value = "warn",
            about =
                "at which level a failed attempt is logged, with its message and its stack trace")
        FailureLog failureLog) {
  public WorkerConfig {
    queues = List.copyOf(queues);
    WorkerOptions.checkQueues(queues);
  }

  public List<String> optionsOfJava() {
    return Stream.of(javaOptions.split("\\s+", -1)).filter(option -> !option.isEmpty()).toList();
  }
}
