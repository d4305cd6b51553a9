package dev.holdfast.app;

import dev.holdfast.contract.Control;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobStatus;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Jobs: list, show, watch, cancel, retry, their steps and logs. */
@Command(
    name = "jobs",
    description = "List jobs, look into one, cancel, retry and control them.",
    mixinStandardHelpOptions = true,
    subcommands = {
      JobsListCommand.class,
      JobsShowCommand.class,
      JobsStepsCommand.class,
      JobsLogCommand.class,
      JobsCommand.WatchCommand.class,
      JobsCancelCommand.class,
      JobsRetryCommand.class,
      JobsControlCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
final class JobsCommand {
  static JobStatus existing(Control control, JobId id) {
    return control
        .find(id)
        .orElseThrow(() -> new CommandException(ExitCode.NOT_FOUND, "there is no job " + id));
  }

  /** Follows one job. */
  @Command(
      name = "watch",
      description = "Follow a job until it ends; exit code 8 when it did not succeed.")
  static final class WatchCommand implements Callable<Integer> {
    @Mixin final Reach reach = new Reach();
    @Mixin final JsonOption output = new JsonOption();

    @Parameters(paramLabel = "ID", description = "the job's id")
    String id = "";

    @Override
    public Integer call() throws InterruptedException {
      JobId job = JobId.parse(id);
      try (Control control = reach.open()) {
        return new Watch(control, output.json).follow(job);
      }
    }
  }
}
