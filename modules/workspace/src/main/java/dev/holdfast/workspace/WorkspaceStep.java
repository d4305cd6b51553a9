package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.worker.steps.FailedAttempt;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.StepAttempt;
import dev.holdfast.worker.steps.StepException;
import dev.holdfast.worker.steps.StepWorkspace;
import dev.holdfast.worker.steps.Strategy;
import dev.holdfast.workspace.git.Changes;
import dev.holdfast.workspace.git.GitException;
import dev.holdfast.workspace.git.PatchTooLargeException;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One step of a workspace job: a program that runs in the job's workspace. */
final class WorkspaceStep
    implements Step<WorkspaceStep.Outcome>, StepWorkspace<WorkspaceStep.Outcome> {
  private static final Logger log = LoggerFactory.getLogger(WorkspaceStep.class);

  /** What an attempt has made. */
  record Outcome(Changes changes, String summary, Instant startedAt) {}

  private final WorkspaceRun.Scope scope;
  private final WorkspaceJob.Task task;
  private final int index;
  private final StepHistory history;
  private final JobWorkspace workspace;
  private final Patches patches;
  private @Nullable StepRuntime runtime;
  private @Nullable Workspace prepared;

  WorkspaceStep(
      WorkspaceRun.Scope scope,
      WorkspaceJob.Task task,
      int index,
      StepHistory history,
      JobWorkspace workspace) {
    this.scope = scope;
    this.task = task;
    this.index = index;
    this.history = history;
    this.workspace = workspace;
    this.patches = new Patches(scope.site().folder(), scope.codec());
  }

  void showProgress() {
    scope.host().progress(percent(), task.shown());
  }

  private void showProgress(String line) {
    scope
        .host()
        .progress(
            percent(), Text.excerpt(task.shown() + ": " + line, Limits.PROGRESS_MESSAGE_CHARS));
  }

  private int percent() {
    return 100 * (index - 1) / scope.job().steps().size();
  }

  @Override
  public String id() {
    return task.id();
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public int attemptsBefore() {
    return history.begun(task.id());
  }

  @Override
  public boolean comesAfter(String other) {
    return scope.job().indexOf(other) < index;
  }

  @Override
  public Optional<StepWorkspace<Outcome>> workspace() {
    return Optional.of(this);
  }

  @Override
  public void prepare() throws IOException {
    runtime = new StepRuntime(scope, task, index, history);
    prepared = workspace.ready(index, this::showProgress);
  }

  @Override
  public Outcome attempt(Retry retry) throws IOException, InterruptedException {
    history.began(task.id(), retry.attempt());
    Instant startedAt = Instant.now();
    String summary =
        Objects.requireNonNull(runtime).run(Objects.requireNonNull(prepared).work(), retry);
    return new Outcome(StepAttempt.withTimersPaused(this::changes), summary, startedAt);
  }

  @Override
  public Outcome accept(Recovery by) throws IOException, InterruptedException {
    history.began(task.id(), attemptsBefore() + 1);
    if (!workspace.isHandedOver()) {
      // The folder is gone with its worker: an empty patch would pass for the operator's work.
      throw new StepException(
          FailureClass.TRANSIENT_RUNTIME,
          "the accepted changes are on the worker where the job was taken over");
    }
    Instant startedAt = Instant.now();
    Changes changes = StepAttempt.withTimersPaused(this::changes);
    String summary = "accepted by %s: %s".formatted(by.requestedBy(), by.reason());
    scope.host().log("── step %s, %s".formatted(task.id(), scope.scrubber().scrub(summary)));
    return new Outcome(changes, scope.scrubber().scrub(summary), startedAt);
  }

  private Changes changes() throws IOException {
    Workspace open =
        workspace
            .current()
            .orElseThrow(
                () ->
                    new StepException(
                        FailureClass.TRANSIENT_RUNTIME,
                        "the workspace was deleted while the step ran"));
    try {
      Changes changes = open.changes(scope.site().patchBytes());
      changes.warnings().forEach(this::warn);
      if (scope.scrubber().findsIn(changes.patch())) {
        // Changes cannot be scrubbed and stay what they are.
        throw new StepException(
            FailureClass.DETERMINISTIC_POLICY,
            "the changes contain a secret of this worker: remove it from the files");
      }
      return changes;
    } catch (PatchTooLargeException tooLarge) {
      throw new StepException(
          FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(tooLarge.getMessage()), tooLarge);
    } catch (GitException e) {
      throw e.asStepFailure();
    }
  }

  private void warn(String warning) {
    String shown = scope.scrubber().scrub(warning);
    log.warn("step {}: {}", task.id(), shown);
    scope.host().log("── " + shown);
  }

  @Override
  public Saved save(Outcome outcome, int attempt) {
    Changes changes = outcome.changes();
    Checkpoint checkpoint =
        new Checkpoint(
            task.id(),
            index,
            attempt,
            changes.diffHash(),
            changes.changedFiles(),
            outcome.summary(),
            outcome.startedAt(),
            Instant.now(),
            workspace.baseline(),
            changes.tree());
    try {
      Patch patch = Patch.of(Files.readAllBytes(changes.patch()));
      patches.write(checkpoint, changes.patch());
      patches.dropFrom(index + 1);
      workspace.accept(changes);
      history.finished(checkpoint);
      return new Saved(
          scope.codec().encode(checkpoint),
          patch,
          new Left(changes.diffHash(), changes.changedFiles()));
    } catch (IOException e) {
      throw new StepException(
          FailureClass.TRANSIENT_RUNTIME, "the checkpoint could not be written", e);
    }
  }

  @Override
  public Optional<Instant> lastChange() {
    return place().flatMap(LastChange::in);
  }

  @Override
  public boolean isLost() {
    return workspace.isLost();
  }

  @Override
  public void handedOver() {
    workspace.handOver();
  }

  @Override
  public @Nullable Failed before() {
    return history.failed(task.id());
  }

  @Override
  public Optional<String> snapshot() {
    Optional<Workspace> open = workspace.current();
    try {
      return open.isEmpty() ? Optional.empty() : Optional.of(open.get().tree());
    } catch (IOException | CancellationException unknown) {
      log.info("step {}: snapshot failed: {}", task.id(), scrubbed(unknown));
      return Optional.empty();
    }
  }

  @Override
  public List<String> changedSince(String snapshot) {
    Optional<Workspace> open = workspace.current();
    try {
      return open.isEmpty() ? List.of() : open.get().changedSince(snapshot);
    } catch (IOException | CancellationException unknown) {
      log.info("step {}: the changed files could not be read: {}", task.id(), scrubbed(unknown));
      return List.of();
    }
  }

  private String scrubbed(Exception error) {
    return scope.scrubber().scrub(error.toString());
  }

  @Override
  public Left left() {
    Optional<Workspace> open = workspace.current();
    if (open.isEmpty()) {
      return Left.NOTHING;
    }
    try {
      Changes changes = open.get().changes(scope.site().patchBytes());
      workspace.isLeftWith(changes.tree());
      return new Left(changes.diffHash(), changes.changedFiles());
    } catch (IOException | CancellationException unknown) {
      log.info("step {}: its changes could not be read: {}", task.id(), scrubbed(unknown));
      return Left.NOTHING;
    }
  }

  @Override
  public void failed(FailedAttempt failure, String summary, Strategy next) {
    new FailureFile(scope.site().folder(), scope.codec())
        .write(task.id(), index, failure, summary, next);
  }

  @Override
  public Optional<Path> place() {
    return workspace.place();
  }

  @Override
  public void hardReset() {
    workspace.abandon();
  }
}
