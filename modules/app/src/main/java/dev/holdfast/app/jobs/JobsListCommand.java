package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JobSelection;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.JobResource;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Jobs, newest first. */
@Command(name = "list", description = "List jobs, newest first.")
final class JobsListCommand implements Callable<Integer> {
  private static final int MESSAGE_CHARS = 80;

  @Mixin final ConnectionOptions reach = new ConnectionOptions();
  @Mixin final JobSelection selection = new JobSelection();
  @Mixin final JsonOption output = new JsonOption();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "how many at most; default: 50")
  int limit = 50;

  @Option(
      names = "--before",
      paramLabel = "ID",
      description = "only older than this job: the next page")
  @Nullable String before;

  @Override
  public Integer call() {
    if (limit < 1 || limit > JobFilter.MOST) {
      throw new CommandException(
          ExitCode.USAGE, "--limit must lie between 1 and " + JobFilter.MOST);
    }
    JobFilter filter =
        selection.filter().limit(limit).resumed(before == null ? null : JobId.parse(before));
    try (Operator operator = reach.open()) {
      List<JobStatus> jobs = operator.list(filter);
      if (output.json) {
        Shown.print(jobs.stream().map(JobResource::of).toList());
      } else {
        print(jobs);
      }
      return ExitCode.OK;
    }
  }

  private void print(List<JobStatus> jobs) {
    Table table = new Table("ID", "KIND", "QUEUE", "STATE", "ATTEMPT", "PROGRESS", "AGE", "NOTE");
    Instant now = Instant.now();
    for (JobStatus job : jobs) {
      table.row(
          job.id(),
          job.kind(),
          job.queue(),
          job.state(),
          job.attempt(),
          job.progress() == null ? "" : job.progress() + " %",
          age(job.createdAt(), now),
          note(job));
    }
    System.out.print(table.isEmpty() ? "no jobs\n" : table.toString());
    if (jobs.size() == limit) {
      System.out.println("more: --before " + jobs.getLast().id());
    }
  }

  private static String age(Instant created, Instant now) {
    Duration age = Duration.between(created, now);
    return Durations.text(age.isNegative() ? Duration.ZERO : age);
  }

  /** The cause first: that all attempts are used up does not say what to do. */
  private static String failure(Failure failure) {
    Failure.Cause root = failure.root();
    String codes =
        root.code().equals(failure.code()) ? root.code() : root.code() + ", " + failure.code();
    return Text.excerpt(Failures.oneLine(root.message()), MESSAGE_CHARS) + " (" + codes + ")";
  }

  private static String note(JobStatus job) {
    if (job.state() == JobState.CANCELLED && job.cancelReason() != null) {
      return "cancel: " + job.cancelReason();
    }
    if (job.failure() != null && job.state() != JobState.SUCCEEDED) {
      return failure(job.failure());
    }
    if (job.cancelReason() != null) {
      return "cancel: " + job.cancelReason();
    }
    return job.progressMessage() == null ? "" : job.progressMessage();
  }
}
