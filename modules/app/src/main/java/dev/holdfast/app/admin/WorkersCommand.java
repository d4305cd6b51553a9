package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.WorkerCommandWatch;
import dev.holdfast.app.cli.WorkersTable;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.error.Failures;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.client.operate.Operator;
import dev.holdfast.contract.resource.WorkerCommandResource;
import dev.holdfast.contract.resource.WorkerResource;
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
    description = "List workers; pause, resume, restart and stop the processes of supervisors.",
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
  /** Processes under supervisors, and whoever holds jobs. */
  @Command(
      name = "list",
      description = "List the worker processes of supervisors, and other workers that hold jobs.")
  static final class ListCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Override
    public Integer call() {
      try (Operator operator = reach.open()) {
        Operator.Workers workers = operator.workers();
        if (output.json) {
          Shown.print(workers.workers().stream().map(WorkerResource::of).toList());
        } else {
          String table = WorkersTable.of(workers);
          System.out.print(table);
          if (workers.workers().isEmpty()) {
            System.out.println("no supervisor runs, and no worker holds a job");
          }
        }
        return ExitCode.OK;
      }
    }
  }

  /** What --json prints. */
  record Report(boolean done, List<WorkerCommandResource> orders) {}

  /** What all commands to workers have in common. */
  abstract static class ActionCommand implements Callable<Integer> {
    private final WorkerCommand.Action action;

    @Mixin final ConnectionOptions reach = new ConnectionOptions();
    @Mixin final JsonOption output = new JsonOption();

    @Option(
        names = "--supervisor",
        paramLabel = "NAME",
        description = "only the one of this supervisor, where several have such a component")
    @Nullable String supervisor;

    @Option(
        names = {"-r", "--reason"},
        paramLabel = "TEXT",
        description = "kept with the command")
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

    /** Whether it is for all of them. */
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
                ? "name a component, as in 'worker:default:0', or say --all"
                : "either a component or --all, not both");
      }
      if (isForAll() && supervisor != null) {
        throw new CommandException(
            ExitCode.USAGE, "--all is for every supervisor: leave --supervisor out");
      }
      String asker = System.getProperty("user.name", "unknown");
      try (Operator operator = reach.open()) {
        WorkerCommandWatch watch = new WorkerCommandWatch(operator, Input.duration("--wait", wait));
        if (component == null) {
          all(operator, watch, asker);
        } else {
          List<WorkerCommand> commands =
              operator.command(
                  new WorkerCommand.Draft(component, supervisor, action, asker, reason));
          tell(watch.await(commands), null);
        }
        return ExitCode.OK;
      }
    }

    private void all(Operator operator, WorkerCommandWatch watch, String asker)
        throws InterruptedException {
      if (action == WorkerCommand.Action.PAUSE) {
        operator.pauseAll(reason);
        tell(watch.await(List.of()), "all workers are paused; jobs that run are finished");
      } else {
        Operator.Resumed resumed = operator.resumeAll(asker, reason);
        tell(
            watch.await(resumed.commands()),
            resumed.wasPaused() ? "all workers are resumed" : "the workers were not all paused");
      }
    }

    private void tell(WorkerCommandWatch.Outcome outcome, @Nullable String first) {
      if (output.json) {
        Shown.print(
            new Report(
                outcome.isDone(),
                outcome.commands().stream().map(WorkerCommandResource::of).toList()));
        return;
      }
      if (first != null) {
        System.out.println(first);
      }
      outcome.lines().forEach(line -> System.out.println(Failures.oneLine(line)));
    }
  }

  /** One, for actions that are never for all. */
  abstract static class OneCommand extends ActionCommand {
    @Parameters(paramLabel = "COMPONENT", description = "as in worker:default:0")
    String component = "";

    OneCommand(WorkerCommand.Action action) {
      super(action);
    }

    @Override
    String component() {
      return component;
    }
  }

  /** One or all. */
  abstract static class OneOrAllCommand extends ActionCommand {
    @Parameters(arity = "0..1", paramLabel = "COMPONENT", description = "as in worker:default:0")
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

  /** No new jobs. */
  @Command(
      name = "pause",
      description = "Let a worker take no new jobs; what it runs is finished, and it stays alive.")
  static final class PauseCommand extends OneOrAllCommand {
    PauseCommand() {
      super(WorkerCommand.Action.PAUSE);
    }
  }

  /** Jobs again. */
  @Command(
      name = "resume",
      description = "End a pause; start one that was stopped or has failed. --all does so for all.")
  static final class ResumeCommand extends OneOrAllCommand {
    ResumeCommand() {
      super(WorkerCommand.Action.RESUME);
    }
  }

  /** Another process. */
  @Command(
      name = "restart",
      description = "End a worker's process as a stop does, and start another one in its place.")
  static final class RestartCommand extends OneCommand {
    RestartCommand() {
      super(WorkerCommand.Action.RESTART);
    }
  }

  /** No process. */
  @Command(
      name = "stop",
      description = "End a worker's process, after 10 s for what it runs; it stays away.")
  static final class StopCommand extends OneCommand {
    StopCommand() {
      super(WorkerCommand.Action.STOP);
    }
  }
}
