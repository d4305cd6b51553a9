package dev.holdfast.app.jobs;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.OperatorException;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes a job that waits. */
@Command(
    name = "edit",
    description = {
      "Change the priority, time or payload of a job that waits.",
      "Exit code 6 when a worker has claimed it, or it has ended; nothing is",
      "changed then."
    })
final class JobsEditCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = "the job's id")
  String id = "";

  @Option(
      names = {"-p", "--priority"},
      paramLabel = "0-9",
      description = "0 is claimed first, 9 last")
  @Nullable Integer priority;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      description = "start it no sooner than this from now; 0s is now")
  @Nullable String delay;

  @Option(
      names = "--run-at",
      paramLabel = "INSTANT",
      description = "start it then or later: 2030-12-31T23:59:00Z")
  @Nullable String runAt;

  @Option(
      names = "--payload",
      paramLabel = "JSON",
      description = "new payload: JSON, @FILE, or - for standard input")
  @Nullable String payload;

  @Override
  public Integer call() {
    JobId job = JobId.parse(id);
    JobEdit edit = edit();
    try (Operator operator = connection.open()) {
      return edited(operator.jobs().edit(job, edit));
    } catch (OperatorException refused) {
      throw switch (refused.reason()) {
        case JOB_RUNNING ->
            new CommandException(
                ExitCode.REFUSED, job + " runs: only jobs that no worker has claimed are changed");
        case JOB_ALREADY_TERMINAL ->
            new CommandException(
                ExitCode.REFUSED,
                job + " has already ended, " + refused.state().map(JobState::name).orElse(""));
        default -> refused;
      };
    }
  }

  private JobEdit edit() {
    if (delay != null && runAt != null) {
      throw new CommandException(ExitCode.USAGE, "give --delay or --run-at, not both");
    }
    JobEdit edit = JobEdit.NOTHING;
    edit = priority == null ? edit : edit.priority(priority);
    edit = delay == null ? edit : edit.delay(Input.duration("--delay", delay));
    edit = runAt == null ? edit : edit.runAt(Input.instant("--run-at", runAt));
    edit = payload == null ? edit : edit.payload(Input.json("--payload", payload));
    if (edit.isNothing()) {
      throw new CommandException(
          ExitCode.USAGE, "say what to change: --priority, --delay, --run-at or --payload");
    }
    return edit;
  }

  private int edited(JobStatus job) {
    if (output.json) {
      Shown.print(Shown.object().put("id", job.id().toString()).put("state", job.state().name()));
    } else {
      Terminal.println(job.id() + "  changed; it is " + job.state());
    }
    return ExitCode.OK;
  }
}
