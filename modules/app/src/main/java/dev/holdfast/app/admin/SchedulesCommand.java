package dev.holdfast.app.admin;

import dev.holdfast.app.cli.Input;
import dev.holdfast.app.cli.JobOptions;
import dev.holdfast.app.cli.PauseText;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.operate.ReadCommand;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Json;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Schedules: list, show, set, run, pause, resume, remove. */
@Command(
    name = "schedules",
    description = "Enqueue jobs at certain times, by cron expression or interval.",
    mixinStandardHelpOptions = true,
    subcommands = {
      SchedulesCommand.ListCommand.class,
      SchedulesShowCommand.class,
      SchedulesCommand.SetCommand.class,
      SchedulesCommand.RunCommand.class,
      SchedulesCommand.PauseCommand.class,
      SchedulesCommand.ResumeCommand.class,
      SchedulesCommand.RemoveCommand.class
    },
    synopsisSubcommandLabel = "COMMAND")
public final class SchedulesCommand {

  /** All schedules. */
  @Command(name = "list", description = "List schedules and when they fire next.")
  static final class ListCommand extends ReadCommand<List<ScheduleOperator.View>> {
    @Override
    protected List<ScheduleOperator.View> read(Operator operator) {
      return operator.schedules().list();
    }

    @Override
    protected Object json(List<ScheduleOperator.View> schedules) {
      return schedules;
    }

    @Override
    protected String text(List<ScheduleOperator.View> schedules) {
      Table table =
          new Table("NAME", "CRON", "ZONE", "KIND", "QUEUE", "NEXT", "LAST", "LAST JOB", "STATE");
      for (ScheduleOperator.View view : schedules) {
        ScheduleStatus each = view.status();
        table.row(
            each.name(),
            each.cron(),
            each.zone(),
            each.kind(),
            each.queue(),
            each.nextFireAt(),
            each.lastFiredAt() == null ? "" : each.lastFiredAt(),
            each.lastRuns().isEmpty() ? "" : each.lastRuns().getFirst().state(),
            state(view));
      }
      return table.orIfEmpty("no schedules");
    }
  }

  static String state(ScheduleOperator.View view) {
    ScheduleStatus schedule = view.status();
    if (schedule.fireError() != null) {
      return "broken: " + schedule.fireError();
    }
    return schedule.pausedAt() == null ? "active" : "paused" + PauseText.of(view.pause());
  }

  /** Creates or replaces a schedule. */
  @Command(
      name = "set",
      description = "Create a schedule, or replace the one with that name.",
      footer = {
        "",
        "Example:",
        "  holdfast schedules set nightly '0 3 * * *' report '{\"days\": 1}'"
      })
  static final class SetCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "name of the schedule")
    String name = "";

    @Parameters(
        index = "1",
        paramLabel = "CRON",
        description = {
          "[second] minute hour day month weekday, or such as",
          "@daily or '@every 30s'"
        })
    String cron = "";

    @Parameters(index = "2", paramLabel = "KIND", description = "the kind of job")
    String kind = "";

    @Parameters(
        index = "3",
        arity = "0..1",
        paramLabel = "PAYLOAD",
        description = "JSON, @FILE, or - for standard input; default: {}")
    @Nullable String payload;

    @Option(names = "--zone", paramLabel = "ZONE", description = "time zone; default: UTC")
    String zone = "UTC";

    @Mixin final JobOptions jobOptions = new JobOptions();

    @Option(
        names = "--missed",
        paramLabel = "WHAT",
        description = {
          "how often to fire for missed times:",
          "${COMPLETION-CANDIDATES}; default: ONCE"
        })
    MissedFires missedFires = MissedFires.ONCE;

    @Option(names = "--no-overlap", description = "no new job while the last one has not ended")
    boolean noOverlap;

    @Override
    public Integer call() {
      Settings settings = connection.settings();
      Job job = jobOptions.job(kind, payload == null ? Json.EMPTY : Input.json(payload));
      Schedule schedule = Schedule.of(name, cron, zone(), job).missedFires(missedFires);
      try (Operator operator = connection.open(settings)) {
        ScheduleOperator.View view =
            operator.schedules().set(noOverlap ? schedule.withoutOverlap() : schedule);
        Terminal.println(name + " fires next at " + view.status().nextFireAt());
        return ExitCode.OK;
      }
    }

    private ZoneId zone() {
      try {
        return ZoneId.of(zone);
      } catch (DateTimeException unknown) {
        throw new CommandException(
            ExitCode.USAGE, "--zone: '" + zone + "' is unknown; write for example Europe/Berlin");
      }
    }
  }

  /** A command to one existing schedule. */
  abstract static class NamedCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "NAME", description = "the schedule's name")
    String name = "";

    int change(BiPredicate<ScheduleOperator, String> verb, String done, String notDone) {
      try (Operator operator = connection.open()) {
        ScheduleOperator schedules = operator.schedules();
        if (schedules.find(name).isEmpty()) {
          throw new CommandException(
              ExitCode.NOT_FOUND, "there is no schedule " + Terminal.oneLine(name));
        }
        Terminal.println(name + (verb.test(schedules, name) ? done : notDone));
        return ExitCode.OK;
      }
    }
  }

  /** Enqueues the job at once. */
  @Command(name = "run", description = "Enqueue the job of a schedule now; its times stay.")
  static final class RunCommand implements Callable<Integer> {
    @Mixin final ConnectionOptions connection = new ConnectionOptions();

    @Parameters(paramLabel = "NAME", description = "the schedule's name")
    String name = "";

    @Override
    public Integer call() {
      try (Operator operator = connection.open()) {
        Enqueued enqueued = operator.schedules().run(name);
        Terminal.println(
            enqueued.id() + (enqueued.duplicate() ? "  (the last one has not ended)" : ""));
        return ExitCode.OK;
      }
    }
  }

  /** Stops firing. */
  @Command(name = "pause", description = "Stop firing a schedule until it is resumed.")
  static final class PauseCommand extends NamedCommand {
    @Mixin final PauseText why = new PauseText();

    @Override
    public Integer call() {
      return change(
          (schedules, schedule) -> schedules.pause(schedule, why.reason),
          " is paused",
          " was paused already");
    }
  }

  /** Continues with the next time. */
  @Command(name = "resume", description = "Fire a paused schedule again, from its next time.")
  static final class ResumeCommand extends NamedCommand {
    @Override
    public Integer call() {
      return change(ScheduleOperator::resume, " is active again", " was not paused");
    }
  }

  /** Deletes a schedule. */
  @Command(name = "remove", description = "Delete a schedule; the jobs it enqueued stay.")
  static final class RemoveCommand extends NamedCommand {
    @Override
    public Integer call() {
      return change(ScheduleOperator::remove, " is removed", " was removed already");
    }
  }
}
