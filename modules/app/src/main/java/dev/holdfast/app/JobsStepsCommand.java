package dev.holdfast.app;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.Control;
import dev.holdfast.contract.Shape;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.JobId;
import dev.holdfast.model.StepStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The steps of one job. */
@Command(name = "steps", description = "Show the steps of a job that have begun.")
final class JobsStepsCommand implements Callable<Integer> {
  @Mixin final Reach reach = new Reach();
  @Mixin final JsonOption output = new JsonOption();

  @Parameters(paramLabel = "ID", description = "the job's id")
  String id = "";

  @Override
  public Integer call() {
    JobId job = JobId.parse(id);
    try (Control control = reach.open()) {
      JobsCommand.existing(control, job);
      List<StepStatus> steps = control.steps(job);
      if (output.json) {
        Shown.print(steps.stream().map(Shape::step).toList());
      } else {
        print(steps);
      }
      return ExitCode.OK;
    }
  }

  private static void print(List<StepStatus> steps) {
    Table table = new Table("INDEX", "STEP", "STATE", "ATTEMPTS", "RESETS", "TOOK", "CHANGED");
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
          changed(step));
    }
    System.out.print(table.isEmpty() ? "no step has begun\n" : table.toString());
  }

  /** How many files, where its checkpoint names them, and how large the patch is. */
  private static String changed(StepStatus step) {
    if (step.patchBytes() == null) {
      return "";
    }
    JsonNode checkpoint = Wire.tree(step.checkpoint());
    JsonNode files = checkpoint == null ? null : checkpoint.path("changedFiles");
    String count =
        files == null || !files.isArray()
            ? ""
            : files.size() + (files.size() == 1 ? " file, " : " files, ");
    return count + Shown.bytes(step.patchBytes());
  }
}
