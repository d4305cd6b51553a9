package dev.holdfast.workspace;

import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.FileTrees;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.PausedDuringRebuildException;
import dev.holdfast.worker.steps.StepException;
import dev.holdfast.workspace.git.Changes;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.GitException;
import dev.holdfast.workspace.git.ReplayException;
import dev.holdfast.workspace.git.Repository;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workspace of one job: built when an attempt begins and there is none, and rebuilt when it has
 * changed since the last attempt ended.
 */
final class JobWorkspace {
  private static final Logger log = LoggerFactory.getLogger(JobWorkspace.class);

  private final Repository repository;
  private final WorkspaceRun.Scope scope;
  private final StepHistory history;
  private final Patches patches;
  private @Nullable Workspace workspace;
  private @Nullable String baseline;
  private int workspaces;
  private @Nullable String lastTree;
  private boolean handedOver;

  /**
   * @param history whose finished steps are to be in the workspace of the steps after them
   */
  JobWorkspace(WorkspaceRun.Scope scope, StepHistory history) {
    this.repository = scope.job().repository().repository();
    this.scope = scope;
    this.history = history;
    this.patches = new Patches(scope.site().folder(), scope.codec());
  }

  /** The commit that the job has begun with, on whatever worker. */
  void beginsAt(String commit) {
    baseline = commit;
  }

  String baseline() {
    return String.valueOf(baseline);
  }

  /** Empty while there is none, or none that is complete. */
  Optional<Workspace> current() {
    Workspace open = workspace;
    return open == null || !open.isWhole() ? Optional.empty() : Optional.of(open);
  }

  Optional<Path> place() {
    Workspace open = workspace;
    return open == null ? Optional.empty() : Optional.of(open.work());
  }

  boolean isLost() {
    Workspace open = workspace;
    return open != null && !open.isWhole();
  }

  /** To an operator, until the next attempt begins: what is changed meanwhile counts. */
  void handOver() {
    lastTree = null;
    handedOver = true;
  }

  boolean isHandedOver() {
    return workspace != null && handedOver;
  }

  /** No step runs from here on. */
  void isLeftWith(String tree) {
    lastTree = tree;
  }

  void accept(Changes changes) throws IOException {
    Workspace open = workspace;
    if (open != null) {
      open.accept(changes);
      lastTree = changes.tree();
    }
  }

  /** Rebuilt when the next attempt begins; until then the old one stays. */
  void abandon() {
    workspace = null;
  }

  /** The workspace for an attempt that is about to begin. */
  Workspace ready(int index, Consumer<String> progress) throws IOException {
    Workspace open = workspace;
    if (open != null && hasChangedAlone(open)) {
      // An operator who takes the job over now is not given this one.
      workspace = null;
      open = null;
    }
    if (open == null) {
      open = built(index, progress);
    }
    open.clearAway();
    // From here on whatever changes may be the program's doing.
    lastTree = null;
    handedOver = false;
    return open;
  }

  /**
   * Whether it has changed since the last attempt ended, by a process of that attempt that escaped,
   * for example. Such changes are in no step's patch and would be taken for the next step's.
   */
  private boolean hasChangedAlone(Workspace open) throws IOException {
    if (!open.isWhole()) {
      scope.host().log("── the workspace is gone, and is rebuilt");
      return true;
    }
    String before = lastTree;
    if (before == null) {
      return false;
    }
    try {
      String now = open.tree();
      if (now.equals(before)) {
        return false;
      }
      String what = scope.scrubber().scrub(open.difference(before, now));
      log.warn("a workspace has changed while no step ran, and is rebuilt: {}", what);
      scope.host().log("── the workspace has changed while no step ran, and is rebuilt: " + what);
      return true;
    } catch (GitException unreadable) {
      String what = scope.scrubber().scrub(String.valueOf(unreadable.getMessage()));
      log.warn("a workspace cannot be looked at, and is rebuilt: {}", what);
      scope.host().log("── the workspace cannot be looked at, and is rebuilt: " + what);
      return true;
    }
  }

  /** A new one, with the steps before this one in it. */
  private Workspace built(int index, Consumer<String> progress) throws IOException {
    Git git =
        scope
            .site()
            .git()
            .cancelledBy(scope.commands()::isHeld)
            .telling(line -> progress.accept(scope.scrubber().scrub(line)));
    Path folder = scope.site().folder().resolve("workspace-" + ++workspaces);
    try {
      Workspace fresh = Workspace.create(folder, repository, baseline, scope.site().cache(), git);
      baseline = fresh.baseline();
      for (int before = 1; before < index; before++) {
        if (scope.job().entry(before) instanceof WorkspaceJob.Task) {
          replay(fresh, before);
        }
      }
      Workspace open = fresh.using(scope.site().git());
      workspace = open;
      forgetOlder(workspaces);
      return open;
    } catch (CancellationException stopped) {
      if (scope.commands().isHeld() && !Thread.currentThread().isInterrupted()) {
        throw new PausedDuringRebuildException();
      }
      throw stopped;
    } catch (GitException e) {
      throw e.asStepFailure();
    } catch (ReplayException lost) {
      throw new StepException(
          FailureClass.DETERMINISTIC_REPO, String.valueOf(lost.getMessage()), lost);
    } catch (RefusedException wrong) {
      throw new StepException(
          FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(wrong.getMessage()), wrong);
    }
  }

  private void replay(Workspace fresh, int index) throws IOException {
    Checkpoint checkpoint = checkpoint(index);
    Path patch = stored(checkpoint);
    fresh.replay(patch, checkpoint.diffHash(), checkpoint.tree());
    patches.write(checkpoint, patch);
    Files.delete(patch);
  }

  /**
   * Writes the patches of all steps that have no file here: where the last worker was lost after
   * the last step, no step runs here, and none is replayed.
   */
  void writeMissingPatches(int steps) throws IOException {
    for (int index = 1; index <= steps; index++) {
      if (scope.job().entry(index) instanceof WorkspaceJob.Task
          && !Files.exists(patches.state(index))) {
        Checkpoint checkpoint = checkpoint(index);
        Path patch = stored(checkpoint);
        patches.write(checkpoint, patch);
        Files.delete(patch);
      }
    }
  }

  private Checkpoint checkpoint(int index) {
    return history
        .checkpoint(index)
        .orElseThrow(
            () ->
                new StepException(
                    FailureClass.DETERMINISTIC_REPO,
                    "step %d has no checkpoint to continue from".formatted(index)));
  }

  /** The patch as the queue has it, in a file that the caller deletes. */
  private Path stored(Checkpoint checkpoint) throws IOException {
    Path patch = scope.site().folder().resolve("replay.patch");
    Files.write(
        patch,
        scope
            .host()
            .patch(checkpoint.stepId())
            .orElseThrow(
                () ->
                    new StepException(
                        FailureClass.DETERMINISTIC_REPO,
                        "the patch of step '%s' is missing".formatted(checkpoint.stepId())))
            .bytes());
    return patch;
  }

  /** The old one stays until the new one is complete: an operator may need it. */
  private void forgetOlder(int newest) {
    for (int old = 1; old < newest; old++) {
      try {
        FileTrees.delete(scope.site().folder().resolve("workspace-" + old));
      } catch (IOException kept) {
        log.warn("an old workspace could not be deleted: {}", kept.toString());
      }
    }
  }
}
