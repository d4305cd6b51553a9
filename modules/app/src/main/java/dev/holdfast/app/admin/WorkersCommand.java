package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.WorkerCommandWatch;
import dev.holdfast.app.cli.WorkersTable;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.WorkerOperator;
import dev.holdfast.model.command.WorkerCommand;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Workers: list, pause, resume, restart, stop. */
@Command(
    name = "workers",
    description = "List workers; pause, resume, restart and stop their processes.",
    mixinStandardHelpOptions = true,
    subcommands = {
      WorkersCommand.ListCommand.class,
      WorkersCommand.PauseCommand.class,
      WorkersCommand.ResumeCommand.class,
      WorkersCommand.RestartCommand.class,
      WorkersCommand.StopCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class WorkersCommand {
  /** Supervised workers, and others that hold jobs. */
  @Command(
      name = "list",
      description = "List supervised workers, and others that hold jobs or ask for some.")
  static final class ListCommand extends ReadCommand<Operator.Workers> {
    @Override
    protected Operator.Workers read(Operator operator) {
      return operator.workers().list();
    }

    @Override
    protected Object json(Operator.Workers workers) {
      return workers.workers();
    }

    @Override
    protected String text(Operator.Workers workers) {
      return WorkersTable.of(workers)
          + (workers.workers().isEmpty()
              ? "no supervisor is running, and no worker holds a job or asks for one\n"
              : "");
    }
  }

  /** The JSON that --json prints. */
  record Report(boolean done, List<WorkerCommand> commands) {}

  /** The part that all commands to workers share. */
  abstract static class ActionCommand implements Callable<Integer> {
    private final WorkerCommand.Action action;

    @Mixin final ConnectionOptions connection = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Option(
        names = "--supervisor",
        paramLabel = "NAME",
        description = "only the worker of this supervisor")
    @Nullable String supervisor;

    @Option(
        names = {"-r", "--reason"},
        paramLabel = "TEXT",
        description = "recorded with the command")
    String reason = "requested on the command line";

    @Option(
        names = "--wait",
        paramLabel = "TIME",
        description = "how long to wait until it is done; default: 5s")
    String wait = "5s";

    ActionCommand(WorkerCommand.Action action) {
      this.action = action;
    }

    abstract @Nullable String component();

    /** Whether the command is for all workers. */
    boolean isForAll() {
      return false;
    }

    @Override
    public Integer call() throws InterruptedException {
      String component = component();
      if ((component == null) != isForAll()) {
        throw new CommandException(
            ExitCode.USAGE,
            component == null
                ? "name a worker, such as worker:default:0, or use --all"
                : "name a worker or use --all, not both");
      }
      if (isForAll() && supervisor != null) {
        throw new CommandException(
            ExitCode.USAGE, "--all is for every supervisor: omit --supervisor");
      }
      try (Operator operator = connection.open()) {
        WorkerCommandWatch watch = new WorkerCommandWatch(operator, Input.duration("--wait", wait));
        if (component == null) {
          all(operator.workers(), watch);
        } else {
          List<WorkerCommand> commands =
              operator.workers().command(component, supervisor, action, reason);
          tell(watch.await(commands), null);
        }
        return ExitCode.OK;
      }
    }

    private void all(WorkerOperator workers, WorkerCommandWatch watch) throws InterruptedException {
      if (action == WorkerCommand.Action.PAUSE) {
        workers.pauseAll(reason);
        tell(watch.await(List.of()), "all workers are paused; running jobs finish");
      } else {
        WorkerOperator.Resumed resumed = workers.resumeAll(reason);
        tell(
            watch.await(resumed.commands()),
            resumed.workersWerePaused()
                ? "all workers are resumed"
                : "the workers were not all paused");
      }
    }

    private void tell(WorkerCommandWatch.Outcome outcome, @Nullable String first) {
      if (output.json) {
        Shown.print(new Report(outcome.isDone(), outcome.commands()));
        return;
      }
      if (first != null) {
        Terminal.println(first);
      }
      outcome.lines().forEach(line -> Terminal.println(Terminal.oneLine(line)));
    }
  }

  /** For actions on one worker. */
  abstract static class OneCommand extends ActionCommand {
    @Parameters(paramLabel = "WORKER", description = "such as worker:default:0")
    String component = "";

    OneCommand(WorkerCommand.Action action) {
      super(action);
    }

    @Override
    String component() {
      return component;
    }
  }

  /** For actions on one worker or all. */
  abstract static class OneOrAllCommand extends ActionCommand {
    @Parameters(arity = "0..1", paramLabel = "WORKER", description = "such as worker:default:0")
    @Nullable String component;

    @Option(names = "--all", description = "all workers, also those without a supervisor")
    boolean all;

    OneOrAllCommand(WorkerCommand.Action action) {
      super(action);
    }

    @Override
    @Nullable String component() {
      return component;
    }

    @Override
    boolean isForAll() {
      return all;
    }
  }

  @Command(
      name = "pause",
      description = "Claim no new jobs; running jobs finish, the process stays alive.")
  static final class PauseCommand extends OneOrAllCommand {
    PauseCommand() {
      super(WorkerCommand.Action.PAUSE);
    }
  }

  @Command(
      name = "resume",
      description = "End a pause; start a worker that was stopped or has failed.")
  static final class ResumeCommand extends OneOrAllCommand {
    ResumeCommand() {
      super(WorkerCommand.Action.RESUME);
    }
  }

  @Command(name = "restart", description = "Stop the process of a worker and start a new one.")
  static final class RestartCommand extends OneCommand {
    RestartCommand() {
      super(WorkerCommand.Action.RESTART);
    }
  }

  @Command(
      name = "stop",
      description = {
        "Stop the process of a worker; only resume starts it again.",
        "Its jobs have HOLDFAST_SUPERVISOR_STOP_TIMEOUT (10s) to finish."
      })
  static final class StopCommand extends OneCommand {
    StopCommand() {
      super(WorkerCommand.Action.STOP);
    }
  }
}
