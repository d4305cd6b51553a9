package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Watch;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Jobs: list, show, watch, cancel, retry, edit, delete, their steps and logs. */
@Command(
    name = "jobs",
    description = "List, inspect, cancel, retry, edit, delete and control jobs.",
    mixinStandardHelpOptions = true,
    subcommands = {
      JobsListCommand.class,
      JobsShowCommand.class,
      JobsStepsCommand.class,
      JobsLogCommand.class,
      JobsCommand.WatchCommand.class,
      JobsCancelCommand.class,
      JobsRetryCommand.class,
      JobsEditCommand.class,
      JobsDeleteCommand.class,
      JobsControlCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class JobsCommand {
  static final String ID = "the job's id, or its first or last characters";

  static JobStatus existing(Operator operator, JobId id) {
    return operator
        .find(id)
        .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no job " + id));
  }

  /** All jobs of a filter, newest first, some at a time. */
  static void pages(Operator operator, JobFilter filter, Consumer<List<JobId>> act) {
    JobFilter rest = filter.limit(JobFilter.MOST);
    List<JobStatus> page;
    do {
      page = operator.list(rest);
      if (!page.isEmpty()) {
        act.accept(page.stream().map(JobStatus::id).toList());
        rest = rest.before(JobCursor.of(page.getLast()));
      }
    } while (page.size() == JobFilter.MOST);
  }

  /** Follows one job. */
  @Command(
      name = "watch",
      description = "Follow a job until it ends; exit code 8 if it does not succeed.")
  static final class WatchCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Parameters(paramLabel = "ID", description = JobsCommand.ID)
    String id = "";

    @Override
    public Integer call() throws InterruptedException {
      ShortId job = ShortId.of(id);
      try (Operator operator = reach.open()) {
        return new Watch(operator, output.json).follow(job.in(operator));
      }
    }
  }
}
