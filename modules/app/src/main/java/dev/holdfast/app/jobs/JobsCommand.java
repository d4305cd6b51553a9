package dev.holdfast.app.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.holdfast.app.cli.JobTargets;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Watch;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.contract.operate.Selection;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Plural;
import java.util.concurrent.Callable;
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
      JobsControlCommand.class,
      JobsForkCommand.class,
      JobsSignalCommand.class,
      JobsDecideCommand.Approve.class,
      JobsDecideCommand.Reject.class,
      JobsLinkCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class JobsCommand {
  static final String ID = "the job's id, or its first or last characters";

  static JobStatus existing(Operator operator, JobId id) {
    return operator
        .jobs()
        .find(id)
        .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no job " + id));
  }

  static JobDetail existing(
      Operator operator, JobId id, JobDetail.Part first, JobDetail.Part... rest) {
    return operator
        .jobs()
        .show(id, first, rest)
        .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no job " + id));
  }

  /** A filter for what is done to many jobs. */
  static JobFilter chosen(JobTargets targets, Selection.Verb verb) {
    try {
      return verb.of(targets.selection.filter());
    } catch (OperatorException others) {
      throw new CommandException(ExitCode.USAGE, String.valueOf(others.getMessage()));
    }
  }

  /** Says how many jobs of a filter would be changed. */
  static int dryRun(Operator operator, JobFilter filter, boolean json, String done) {
    JobCount jobs = operator.jobs().count(filter);
    if (json) {
      ObjectNode node = Shown.object().put("jobs", jobs.count());
      Shown.print(jobs.more() ? node.put("more", true) : node);
    } else {
      Terminal.println(
          (jobs.more() ? "more than " : "") + Plural.of(jobs.count(), "job") + " would be " + done);
    }
    return ExitCode.OK;
  }

  /** Follows one job. */
  @Command(
      name = "watch",
      description = "Follow a job until it ends; exit code 8 if it does not succeed.")
  static final class WatchCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Parameters(paramLabel = "ID", description = JobsCommand.ID)
    String id = "";

    @Override
    public Integer call() throws InterruptedException {
      ShortId job = ShortId.of(id);
      try (Operator operator = connection.open()) {
        return new Watch(operator, output.json).follow(job.in(operator));
      }
    }
  }
}
