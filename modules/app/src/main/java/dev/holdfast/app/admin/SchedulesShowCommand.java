package dev.holdfast.app.admin;

import dev.holdfast.app.cli.JsonOption;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** One schedule: when it fires, and what became of the last jobs. */
@Command(
    name = "show",
    description = "Show a schedule, its next times, and its last jobs with their outcome.")
final class SchedulesShowCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "NAME", description = "the schedule's name")
  String name = "";

  @Override
  public Integer call() {
    try (Operator operator = connection.open()) {
      ScheduleOperator.View schedule =
          operator
              .schedules()
              .find(name)
              .orElseThrow(
                  () ->
                      new CommandException(
                          ExitCode.NOT_FOUND, "there is no schedule " + Terminal.oneLine(name)));
      if (output.json) {
        Shown.print(schedule);
      } else {
        print(schedule);
      }
      return ExitCode.OK;
    }
  }

  private static void print(ScheduleOperator.View view) {
    ScheduleStatus schedule = view.status();
    Terminal.printf(
        "%s: %s in %s, kind %s, queue %s, %s%n",
        schedule.name(),
        schedule.cron(),
        schedule.zone(),
        schedule.kind(),
        schedule.queue(),
        SchedulesCommand.state(view));
    if (!schedule.upcoming().isEmpty()) {
      Terminal.println("\nnext times:");
      schedule.upcoming().forEach(at -> Terminal.println("  " + at));
    }
    Table runs = new Table("JOB", "STATE", "CREATED", "FINISHED");
    for (ScheduledRun run : schedule.lastRuns()) {
      runs.row(
          run.id(), run.state(), run.createdAt(), run.finishedAt() == null ? "" : run.finishedAt());
    }
    Terminal.print(runs.isEmpty() ? "\nno jobs yet\n" : "\nlast jobs:\n" + runs);
  }
}
