package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JobSelection;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Jobs, newest or oldest first. */
@Command(name = "list", description = "List jobs, newest first.")
final class JobsListCommand extends ReadCommand<List<JobStatus>> {
  private static final int MESSAGE_CHARS = 80;
  private static final Duration LOOK = Duration.ofSeconds(1);

  @Mixin final JobSelection selection = new JobSelection();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "how many at most; default: 50")
  int limit = 50;

  @Option(names = "--oldest-first", description = "list them oldest first")
  boolean oldestFirst;

  @Option(
      names = "--before",
      paramLabel = "ID",
      description = "only older than this job: the next page")
  @Nullable String before;

  @Option(
      names = "--after",
      paramLabel = "ID",
      description = "only newer: the next page of --oldest-first")
  @Nullable String after;

  @Option(
      names = {"-w", "--watch"},
      description = "continue with jobs that are new or have changed")
  boolean watch;

  private JobFilter filter = JobFilter.ALL;
  private @Nullable JobId older;
  private @Nullable JobId newer;

  @Override
  protected void checkOptions() {
    Input.limit(limit, JobFilter.MOST);
    if (watch && (before != null || oldestFirst)) {
      throw new CommandException(
          ExitCode.USAGE, "--watch shows the newest jobs: omit --before and --oldest-first");
    }
    filter = selection.filter().limit(limit);
    older = before == null ? null : JobId.parse(before);
    newer = after == null ? null : JobId.parse(after);
  }

  /** The filter between the jobs that were named; only they say when they were created. */
  private JobFilter within(Operator operator) {
    JobFilter selected = filter;
    if (older != null) {
      selected = selected.resumed(JobCursor.of(JobsCommand.existing(operator, older)));
    }
    if (newer != null) {
      JobCursor cursor = JobCursor.of(JobsCommand.existing(operator, newer));
      selected = selected.oldestFirst(true).resumed(cursor);
    }
    return selected.oldestFirst(oldestFirst);
  }

  @Override
  protected List<JobStatus> read(Operator operator) {
    filter = within(operator);
    return operator.jobs().list(filter);
  }

  @Override
  protected void follow(Operator operator, List<JobStatus> jobs) throws InterruptedException {
    if (!watch) {
      return;
    }
    ChangedRows changes = new ChangedRows(jobs);
    Table first = table(jobs, output.isWide());
    while (true) {
      Thread.sleep(LOOK);
      List<JobStatus> changed = changes.since(operator.jobs().list(filter));
      if (output.isData()) {
        changed.forEach(job -> output.printOne(job));
      } else if (!changed.isEmpty()) {
        Terminal.print(table(changed, output.isWide()).below(first));
      }
      Terminal.flush();
    }
  }

  @Override
  protected Object json(List<JobStatus> jobs) {
    return jobs;
  }

  @Override
  protected String text(List<JobStatus> jobs) {
    return table(jobs, false).orIfEmpty("no jobs") + more(jobs);
  }

  @Override
  protected String wide(List<JobStatus> jobs) {
    return table(jobs, true).orIfEmpty("no jobs") + more(jobs);
  }

  private String more(List<JobStatus> jobs) {
    return jobs.size() == limit && !watch
        ? "more: --%s %s%n".formatted(oldestFirst ? "after" : "before", jobs.getLast().id())
        : "";
  }

  private static Table table(List<JobStatus> jobs, boolean wide) {
    List<String> head =
        new ArrayList<>(
            List.of("ID", "KIND", "QUEUE", "STATE", "ATTEMPT", "PROGRESS", "AGE", "NOTE"));
    if (wide) {
      head.addAll(List.of("PRIORITY", "CREATED", "DUE", "STARTED", "FINISHED", "WORKER", "TENANT"));
    }
    Table table = new Table(head.toArray(String[]::new));
    Instant now = Instant.now();
    for (JobStatus job : jobs) {
      List<Object> cells =
          new ArrayList<>(
              List.of(
                  job.id(),
                  job.kind(),
                  job.queue(),
                  job.state(),
                  job.attempt(),
                  job.progress() == null ? "" : job.progress() + " %",
                  Durations.age(job.createdAt(), now),
                  note(job)));
      if (wide) {
        cells.addAll(
            List.of(
                job.priority(),
                job.createdAt(),
                job.runAt(),
                orEmpty(job.startedAt()),
                orEmpty(job.finishedAt()),
                orEmpty(job.worker()),
                job.tenant()));
      }
      table.row(cells.toArray());
    }
    return table;
  }

  private static Object orEmpty(@Nullable Object value) {
    return value == null ? "" : value;
  }

  /** The cause first: that all attempts are used up does not say what to do. */
  private static String failure(Failure failure) {
    Failure.Cause root = failure.root();
    String codes =
        root.code().equals(failure.code()) ? root.code() : root.code() + ", " + failure.code();
    return Text.excerpt(Terminal.oneLine(root.message()), MESSAGE_CHARS) + " (" + codes + ")";
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
    if (job.waitsFor() != null) {
      return "waits for " + job.waitsFor().text();
    }
    return job.progressMessage() == null ? "" : job.progressMessage();
  }
}
