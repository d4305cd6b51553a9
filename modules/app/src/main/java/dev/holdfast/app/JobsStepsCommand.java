package dev.holdfast.app;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.Control;
import dev.holdfast.contract.Shape;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Limits;
import dev.holdfast.model.StepStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The steps of one job. */
@Command(name = "steps", description = "Show the steps of a job that have begun.")
final class JobsStepsCommand implements Callable<Integer> {
  @Mixin final Reach reach = new Reach();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = "the job's id")
  String id = "";

  @Option(
      names = "--step",
      paramLabel = "ID",
      description = "only this one, with what it left: its result, or which files it changed")
  @Nullable String step;

  @Override
  public Integer call() {
    JobId job = JobId.parse(id);
    try (Control control = reach.open()) {
      JobsCommand.existing(control, job);
      if (step != null) {
        show(control, job, Limits.stepId(step));
      } else if (output.json) {
        Shown.print(control.steps(job).stream().map(Shape::listed).toList());
      } else {
        print(control.steps(job));
      }
      return ExitCode.OK;
    }
  }

  private void show(Control control, JobId job, String wanted) {
    StepStatus found =
        control
            .step(job, wanted)
            .orElseThrow(
                () ->
                    new CommandException(
                        ExitCode.NOT_FOUND, "step '%s' has not begun".formatted(wanted)));
    if (output.json) {
      Shown.print(Shape.step(found));
    } else {
      print(List.of(found));
      JsonNode left = Wire.tree(found.checkpoint());
      if (left != null) {
        System.out.println();
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
    System.out.print(table.isEmpty() ? "no step has begun\n" : table.toString());
  }
}
