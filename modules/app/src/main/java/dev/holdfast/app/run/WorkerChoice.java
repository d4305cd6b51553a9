package dev.holdfast.app.run;

import dev.holdfast.app.cli.CommonOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that say what a worker serves. */
final class WorkerChoice {
  @Option(
      names = {"-q", "--queue"},
      split = ",",
      paramLabel = "QUEUE",
      description = "queues to serve, in turn")
  @Nullable List<String> queues;

  @Option(
      names = {"-c", "--concurrency"},
      paramLabel = "N",
      description = "number of jobs to run at once")
  @Nullable Integer concurrency;

  CommonOptions over(CommonOptions common) {
    return common
        .with("worker.queues", queues == null ? null : String.join(",", queues))
        .with("worker.concurrency", concurrency);
  }
}
