package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.model.wait.WaitSort;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Answers the question of a job. */
abstract class JobsDecideCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Option(
      names = "--wait",
      paramLabel = "ID",
      description = "the id of the question; default: the open one")
  @Nullable String wait;

  @Option(
      names = {"-c", "--comment"},
      paramLabel = "TEXT",
      description = "kept in the timeline, and given to the handler")
  String comment = "";

  private final boolean approves;

  private JobsDecideCommand(boolean approves) {
    this.approves = approves;
  }

  /** With a yes. */
  @Command(
      name = "approve",
      description = {
        "Approve what a job asks; 'holdfast inbox' shows the questions.",
        "Exit code 6 when it asks nothing, or somebody else has decided."
      })
  static final class Approve extends JobsDecideCommand {
    Approve() {
      super(true);
    }
  }

  /** With a no. */
  @Command(
      name = "reject",
      description = {
        "Reject what a job asks; 'holdfast inbox' shows the questions.",
        "Exit code 6 when it asks nothing, or somebody else has decided."
      })
  static final class Reject extends JobsDecideCommand {
    Reject() {
      super(false);
    }
  }

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      String asked = wait == null ? asked(operator, job) : wait;
      operator.jobs().decide(job, asked, approves, comment);
      if (output.json) {
        Shown.print(
            Shown.object()
                .put("id", job.toString())
                .put("waitId", asked)
                .put("approved", approves));
      } else {
        Terminal.println(job + "  '" + asked + "' " + (approves ? "approved" : "rejected"));
      }
      return ExitCode.OK;
    }
  }

  /** The id of the open question. */
  static String asked(Operator operator, JobId job) {
    OpenWait open = JobsCommand.existing(operator, job).waitsFor();
    if (open == null || open.sort() != WaitSort.APPROVAL) {
      throw new CommandException(ExitCode.REFUSED, "job " + job + " asks nothing now");
    }
    return open.id();
  }
}
