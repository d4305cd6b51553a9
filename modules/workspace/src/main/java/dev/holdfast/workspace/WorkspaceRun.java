package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.JobWaits;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.ReceivedCommands;
import dev.holdfast.worker.steps.StepEnd;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.workspace.git.Git;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The steps of one workspace job, one after the other. The database has the checkpoints; the folder
 * has the same as files, for people and runtimes to read.
 */
public final class WorkspaceRun {
  /** What it needs of the worker that runs the job. */
  public interface Host {
    Optional<Patch> patch(String step);

    /** Waits; does not return unless the wait is over. */
    JobWaits.Over await(int index, Wait wait);

    void alive();

    /** A line that a runtime printed, scrubbed. */
    void log(String line);

    void progress(int percent, String message);
  }

  /**
   * Where and how it works.
   *
   * @param folder of this attempt of the job
   * @param cache mirrors of repositories, for all jobs of this machine
   * @param environment what every runtime may see
   * @param grace for a runtime that was asked to end
   * @param patchBytes how large what one step has changed may be
   */
  public record Site(
      Path folder,
      Path cache,
      Git git,
      Map<String, RuntimeCommand> runtimes,
      Map<String, String> environment,
      Duration grace,
      int patchBytes) {}

  /**
   * What the parts of a run share.
   *
   * @param commands what operators ask of the job
   */
  public record Scope(
      WorkspaceJob job,
      Site site,
      Codec codec,
      Scrubber scrubber,
      ReceivedCommands commands,
      Host host) {}

  private final Scope scope;
  private final StepLoop loop;
  private final StepHistory history = new StepHistory();
  private final JobWorkspace workspace;

  public WorkspaceRun(Scope scope, StepLoop loop) {
    this.scope = scope;
    this.loop = loop;
    this.workspace = new JobWorkspace(scope, history);
  }

  /**
   * The result of the job.
   *
   * @param tree of all files in the end
   * @param changedFiles by all steps
   */
  public record Result(String baseline, String tree, int steps, List<String> changedFiles) {}

  /** From the first step that is not done; the answer is the job's result. */
  public Result run(List<StepStatus> known, Budgets usual)
      throws InterruptedException, IOException {
    Budgets budgets = scope.job().budgets(usual);
    history.load(known, scope.codec());
    history.baseline().ifPresent(workspace::beginsAt);
    int last = scope.job().steps().size();
    int index = 1;
    while (index <= last) {
      index =
          switch (scope.job().entry(index)) {
            case WorkspaceJob.WaitStep asked ->
                new WorkspaceWait(scope, asked, index, history, workspace).passed();
            case WorkspaceJob.Task task -> run(task, index, budgets);
          };
    }
    history.mustEndAt(last);
    workspace.writeMissingPatches(last);
    scope.host().progress(100, "done");
    return new Result(
        workspace.baseline(),
        history.last().map(Checkpoint::tree).orElse(""),
        history.steps(),
        history.changedFiles());
  }

  /** The answer is which one comes next. */
  private int run(WorkspaceJob.Task task, int index, Budgets budgets) throws InterruptedException {
    if (history.isDone(index) && !isAskedFor(index)) {
      history.mustBe(index, task.id());
      return index + 1;
    }
    WorkspaceStep step = new WorkspaceStep(scope, task, index, history, workspace);
    step.showProgress();
    return switch (loop.run(step, budgets)) {
      case StepEnd.Done<WorkspaceStep.Outcome>(var outcome) -> index + 1;
      case StepEnd.Elsewhere<WorkspaceStep.Outcome>(var wanted) ->
          scope.job().indexOf(wanted.stepId());
      // Its own workspace is reset instead.
      case StepEnd.CallAgain<WorkspaceStep.Outcome>() -> index;
    };
  }

  private boolean isAskedFor(int index) {
    return scope.job().asked(scope.commands().pending(), index).isPresent();
  }
}
