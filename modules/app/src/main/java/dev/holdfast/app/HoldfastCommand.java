package dev.holdfast.app;

import dev.holdfast.app.admin.ConfigCommand;
import dev.holdfast.app.admin.HealthCommand;
import dev.holdfast.app.admin.KeysCommand;
import dev.holdfast.app.admin.LogsCommand;
import dev.holdfast.app.admin.MigrateCommand;
import dev.holdfast.app.admin.NoticesCommand;
import dev.holdfast.app.admin.QueuesCommand;
import dev.holdfast.app.admin.SchedulesCommand;
import dev.holdfast.app.admin.ScratchCommand;
import dev.holdfast.app.admin.StatsCommand;
import dev.holdfast.app.admin.WorkersCommand;
import dev.holdfast.app.cli.Version;
import dev.holdfast.app.jobs.EnqueueCommand;
import dev.holdfast.app.jobs.FailuresCommand;
import dev.holdfast.app.jobs.InboxCommand;
import dev.holdfast.app.jobs.JobsCommand;
import dev.holdfast.app.jobs.RunsCommand;
import dev.holdfast.app.run.DemoCommand;
import dev.holdfast.app.run.DevCommand;
import dev.holdfast.app.run.ServerCommand;
import dev.holdfast.app.run.SuperviseCommand;
import dev.holdfast.app.run.WorkerCommand;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;

/** The list of all commands. */
@Command(
    name = "holdfast",
    description = "Runs jobs to their end, whatever crashes or hangs on the way.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Start with 'holdfast dev', then 'holdfast enqueue sleep' in another terminal.",
      "Exit codes: 0 done, 2 usage, 3 database or server unreachable,",
      "4 database unusable, 5 not found, 6 refused, 7 folder or port,",
      "8 job did not succeed, 9 handlers, 10 configuration, 11 not healthy."
    })
final class HoldfastCommand {
  private static final List<Class<?>> COMMANDS =
      List.of(
          DevCommand.class,
          DemoCommand.class,
          MigrateCommand.class,
          ServerCommand.class,
          WorkerCommand.class,
          SuperviseCommand.class,
          EnqueueCommand.class,
          JobsCommand.class,
          RunsCommand.class,
          FailuresCommand.class,
          InboxCommand.class,
          QueuesCommand.class,
          WorkersCommand.class,
          SchedulesCommand.class,
          NoticesCommand.class,
          StatsCommand.class,
          HealthCommand.class,
          LogsCommand.class,
          KeysCommand.class,
          ScratchCommand.class,
          ConfigCommand.class,
          CompletionCommand.class,
          HelpCommand.class);

  private HoldfastCommand() {}

  static CommandLine withAll() {
    CommandLine line = new CommandLine(new HoldfastCommand());
    COMMANDS.forEach(line::addSubcommand);
    return line;
  }

  /**
   * With the named command alone, unless it is 'help': reading the options of all commands takes a
   * quarter of the time of a short command.
   */
  static CommandLine withOnly(String name) {
    for (Class<?> command : COMMANDS) {
      if (command != HelpCommand.class
          && command.getAnnotation(Command.class).name().equals(name)) {
        return new CommandLine(new HoldfastCommand()).addSubcommand(command);
      }
    }
    return withAll();
  }
}
