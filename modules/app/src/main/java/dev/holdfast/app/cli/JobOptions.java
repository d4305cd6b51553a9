package dev.holdfast.app.cli;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every job has, whether it is enqueued now or by a schedule. */
public final class JobOptions {
  @Option(
      names = {"-q", "--queue"},
      paramLabel = "QUEUE",
      description = "queue of the job; default: 'default'")
  @Nullable String queue;

  @Option(
      names = {"-p", "--priority"},
      paramLabel = "0-9",
      description = "0 is claimed first, 9 last; default: 5")
  @Nullable Integer priority;

  @Option(names = "--timeout", paramLabel = "TIME", description = "how long an attempt may take")
  @Nullable String timeout;

  @Option(
      names = "--max-attempts",
      paramLabel = "N",
      description = {
        "how many attempts may fail; default: that of its",
        "kind or queue, or MAX_ATTEMPTS (3)"
      })
  @Nullable Integer maxAttempts;

  public Job job(String kind, Json payload) {
    Job job = Job.of(kind, payload);
    job = queue == null ? job : job.queue(queue);
    job = priority == null ? job : job.priority(priority);
    job = maxAttempts == null ? job : job.maxAttempts(maxAttempts);
    return timeout == null ? job : job.timeout(Input.duration("--timeout", timeout));
  }
}
