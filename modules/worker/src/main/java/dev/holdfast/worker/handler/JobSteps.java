package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.ReceivedCommands;
import dev.holdfast.worker.steps.StepLoop;
import java.util.List;
import java.util.Optional;

/**
 * The steps of a job, for a handler that implements {@link dev.holdfast.worker.steps.Step} itself.
 * Other handlers use {@link JobContext#step}.
 */
public interface JobSteps {
  /** Reads from the job source what attempts before this one have done. */
  Opened open();

  /** What operators ask of the job. */
  ReceivedCommands commands();

  /** What a finished step has changed in its workspace. */
  Optional<Patch> patch(String step);

  /** The worker's budgets. */
  Budgets budgets();

  /**
   * @param known the steps that were begun before, by index
   */
  record Opened(StepLoop loop, List<StepStatus> known) {}
}
