package dev.holdfast.app;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What a worker serves, as an option: for 'dev' and for 'worker'. */
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
      description = "how many jobs at once")
  @Nullable Integer concurrency;

  Common over(Common common) {
    return common
        .with(Setting.QUEUES, queues == null ? null : String.join(",", queues))
        .with(Setting.MAX_CONCURRENCY, concurrency);
  }
}
