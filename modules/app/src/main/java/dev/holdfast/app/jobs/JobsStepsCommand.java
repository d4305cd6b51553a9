package dev.holdfast.app.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.app.cli.OutputOption;
import dev.holdfast.app.cli.ShortId;
import dev.holdfast.app.cli.Shown;
import dev.holdfast.app.cli.Table;
import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.operate.ConnectionOptions;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.JobDetail;
import dev.holdfast.contract.operate.Operator;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The steps of one job. */
@Command(name = "steps", description = "Show the steps of a job that have started.")
final class JobsStepsCommand implements Callable<Integer> {
  @Mixin final ConnectionOptions connection = new ConnectionOptions();
  @Mixin final OutputOption output = new OutputOption();

  @Parameters(paramLabel = "ID", description = JobsCommand.ID)
  String id = "";

  @Option(
      names = "--step",
      paramLabel = "ID",
      description = "only this step, with its result or changed files")
  @Nullable String step;

  @Override
  public Integer call() {
    ShortId named = ShortId.of(id);
    try (Operator operator = connection.open()) {
      JobId job = named.in(operator);
      if (step != null) {
        show(operator, job, Limits.stepId(step));
        return ExitCode.OK;
      }
      List<StepStatus> steps = JobsCommand.existing(operator, job, JobDetail.Part.STEPS).steps();
      if (output.isData()) {
        output.print(steps);
      } else {
        print(steps);
      }
      return ExitCode.OK;
    }
  }

  private void show(Operator operator, JobId job, String wanted) {
    StepStatus found =
        operator
            .jobs()
            .step(job, wanted)
            .orElseThrow(
                () ->
                    new CommandException(
                        ExitCode.NOT_FOUND, "step '%s' has not started".formatted(wanted)));
    if (output.isData()) {
      output.print(found);
    } else {
      print(List.of(found));
      JsonNode left = Wire.tree(found.checkpoint());
      if (left != null) {
        Terminal.println();
        Shown.print(left);
      }
    }
  }

  private static void print(List<StepStatus> steps) {
    Table table = new Table("INDEX", "STEP", "STATE", "ATTEMPTS", "RESETS", "TOOK", "PATCH");
    for (StepStatus step : steps) {
      table.row(
          step.index(),
          step.id(),
          step.state(),
          step.attempt(),
          step.resets(),
          step.finishedAt() == null
              ? ""
              : Durations.text(Duration.between(step.startedAt(), step.finishedAt())),
          step.patchBytes() == null ? "" : Shown.bytes(step.patchBytes()));
    }
    Terminal.print(table.orIfEmpty("no step has started"));
  }
}
