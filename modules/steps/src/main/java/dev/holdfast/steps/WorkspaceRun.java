package dev.holdfast.steps;

import dev.holdfast.model.Codec;
import dev.holdfast.model.Json;
import dev.holdfast.model.Limits;
import dev.holdfast.model.LiveControl.Recovery;
import dev.holdfast.model.Patch;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.StepStatus;
import dev.holdfast.model.Text;
import dev.holdfast.process.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of one workspace job, one after the other. The database has the checkpoints; the folder
 * has the same as files, for people and runtimes to read.
 */
public final class WorkspaceRun {
  private static final Logger log = LoggerFactory.getLogger(WorkspaceRun.class);

  /** What it needs of whoever runs the job. */
  public interface Host {
    Optional<Patch> patch(String step);

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

  private final WorkspaceJob job;
  private final Site site;
  private final Codec codec;
  private final Scrubber scrubber;
  private final StepLoop loop;
  private final Interventions interventions;
  private final Host host;
  private final Patches patches;
  private final Map<Integer, Checkpoint> done = new HashMap<>();
  private final Map<String, Integer> begun = new HashMap<>();
  private final Map<String, Step.Failed> failedBefore = new HashMap<>();
  private @Nullable Workspace workspace;
  private @Nullable String baseline;
  private int workspaces;
  private @Nullable String lastTree;
  private boolean handedOver;
  private int percent;

  public WorkspaceRun(
      WorkspaceJob job,
      Site site,
      Codec codec,
      Scrubber scrubber,
      StepLoop loop,
      Interventions interventions,
      Host host) {
    this.job = job;
    this.site = site;
    this.codec = codec;
    this.scrubber = scrubber;
    this.loop = loop;
    this.interventions = interventions;
    this.host = host;
    this.patches = new Patches(site.folder(), codec);
  }

  /**
   * What came of it.
   *
   * @param tree of all files in the end
   * @param changedFiles by all steps
   */
  public record Result(String baseline, String tree, int steps, List<String> changedFiles) {}

  /** From the first step that is not done; the answer is the job's result. */
  public Result run(List<StepStatus> known, Budgets usual) throws InterruptedException {
    Budgets budgets = job.budgets(usual);
    remember(known);
    int index = 1;
    while (index <= job.steps().size() && done.containsKey(index) && !isAskedFor(index)) {
      index++;
    }
    while (index <= job.steps().size()) {
      WorkspaceJob.Task task = job.steps().get(index - 1);
      percent = 100 * (index - 1) / job.steps().size();
      host.progress(percent, title(task));
      try {
        loop.run(new WorkspaceStep(task, index), budgets);
        index++;
      } catch (RedirectException elsewhere) {
        index = indexOf(elsewhere.recovery().stepId());
      }
    }
    host.progress(100, "done");
    List<String> changed =
        done.values().stream().flatMap(step -> step.changedFiles().stream()).distinct().toList();
    Checkpoint last = done.get(job.steps().size());
    return new Result(
        String.valueOf(baseline), last == null ? "" : last.tree(), done.size(), changed);
  }

  private void remember(List<StepStatus> known) {
    for (StepStatus step : known) {
      begun.put(step.id(), step.attempt());
      Json json = step.checkpoint();
      if (step.isDone() && json != null) {
        Checkpoint checkpoint = codec.decode(json, Checkpoint.class);
        done.put(step.index(), checkpoint);
        baseline = checkpoint.baseline();
      }
      Json failure = step.failure();
      if (!step.isDone() && failure != null) {
        PassedOn.read(codec, failure).ifPresent(one -> failedBefore.put(step.id(), one));
      }
    }
  }

  private boolean isAskedFor(int index) {
    return interventions
        .pending()
        .map(Recovery::stepId)
        .map(id -> indexOf(id) <= index)
        .orElse(false);
  }

  /** After the last one for a step that is not ours. */
  private int indexOf(String id) {
    for (int i = 0; i < job.steps().size(); i++) {
      if (job.steps().get(i).id().equals(id)) {
        return i + 1;
      }
    }
    return job.steps().size() + 1;
  }

  private static String title(WorkspaceJob.Task task) {
    return task.title() == null ? task.id() : task.title();
  }

  // ---- the workspace

  /** The workspace for an attempt that is about to begin. */
  private Workspace ready(int index, String title) throws IOException {
    Workspace open = workspace;
    if (open != null && hasChangedAlone(open)) {
      // Whoever takes the job over now is not given this one.
      workspace = null;
      open = null;
    }
    if (open == null) {
      open = built(index, title);
    }
    open.clearAway();
    // From here on whatever changes may be the program's doing.
    lastTree = null;
    handedOver = false;
    return open;
  }

  /**
   * Whether somebody was at work in it since the last attempt has ended: a process of that attempt
   * that nobody could find, say. Whatever it wrote is in no step's patch, and would be taken for
   * the next one's.
   */
  private boolean hasChangedAlone(Workspace open) throws IOException {
    if (!open.isWhole()) {
      host.log("── the workspace is gone, and is built anew");
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
      String what = scrubber.scrub(open.difference(before, now));
      log.warn("a workspace has changed while no step was at work, and is built anew: {}", what);
      host.log(
          "── the workspace has changed while no step was at work, and is built anew: " + what);
      return true;
    } catch (GitException trouble) {
      throw new StepException(
          trouble.failureClass(), String.valueOf(trouble.getMessage()), trouble);
    }
  }

  /** A new one, with the steps before this one in it. */
  private Workspace built(int index, String title) throws IOException {
    Git git =
        site.git()
            .cancelledBy(this::isPaused)
            .telling(
                line ->
                    host.progress(
                        percent,
                        Text.excerpt(
                            title + ": " + scrubber.scrub(line), Limits.PROGRESS_MESSAGE_CHARS)));
    Path folder = site.folder().resolve("workspace-" + ++workspaces);
    try {
      Workspace fresh =
          Workspace.create(folder, job.repository().repository(), baseline, site.cache(), git);
      baseline = fresh.baseline();
      for (int before = 1; before < index; before++) {
        replay(fresh, before);
      }
      Workspace open = Workspace.open(folder, site.git());
      workspace = open;
      forgetOlder(workspaces);
      return open;
    } catch (CancellationException stopped) {
      if (isPaused() && !Thread.currentThread().isInterrupted()) {
        throw new HeldUpException();
      }
      throw stopped;
    } catch (GitException trouble) {
      throw new StepException(
          trouble.failureClass(), String.valueOf(trouble.getMessage()), trouble);
    } catch (ReplayException lost) {
      throw new StepException(
          FailureClass.DETERMINISTIC_REPO, String.valueOf(lost.getMessage()), lost);
    } catch (RefusedException wrong) {
      throw new StepException(
          FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(wrong.getMessage()), wrong);
    }
  }

  private boolean isPaused() {
    return interventions.isHeldUp();
  }

  private void replay(Workspace fresh, int index) throws IOException {
    Checkpoint checkpoint = done.get(index);
    if (checkpoint == null) {
      throw new StepException(
          FailureClass.DETERMINISTIC_REPO,
          "step %d has no checkpoint to go on from".formatted(index));
    }
    Path patch = site.folder().resolve("replay.patch");
    Files.write(
        patch,
        host.patch(checkpoint.stepId())
            .orElseThrow(
                () ->
                    new StepException(
                        FailureClass.DETERMINISTIC_REPO,
                        "the patch of step '%s' is missing".formatted(checkpoint.stepId())))
            .bytes());
    fresh.replay(patch, checkpoint.diffHash(), checkpoint.tree());
    patches.write(checkpoint, patch);
    Files.delete(patch);
  }

  /** The one before it stays while the new one is not whole: it may be all there is to look at. */
  private void forgetOlder(int newest) {
    for (int old = 1; old < newest; old++) {
      try {
        Trees.delete(site.folder().resolve("workspace-" + old));
      } catch (IOException kept) {
        log.warn("an old workspace could not be deleted: {}", kept.toString());
      }
    }
  }

  // ---- one step

  private record Outcome(Changes changes, String summary, Instant startedAt) {}

  private final class WorkspaceStep implements Step<Outcome> {
    private final WorkspaceJob.Task task;
    private final int index;

    WorkspaceStep(WorkspaceJob.Task task, int index) {
      this.task = task;
      this.index = index;
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
    public int begun() {
      return begun.getOrDefault(task.id(), 0);
    }

    @Override
    public boolean comesAfter(String other) {
      return indexOf(other) < index;
    }

    @Override
    public Outcome attempt(Retry retry) throws IOException, InterruptedException {
      begun.put(task.id(), retry.attempt());
      StepRuntime runtime = new StepRuntime(job, task, index, site, codec, scrubber, host);
      Workspace open = Attempt.withoutClocks(() -> ready(index, title(task)));
      Instant startedAt = Instant.now();
      String summary = runtime.run(open.work(), retry);
      Changes changes = Attempt.withoutClocks(() -> changes(open));
      return new Outcome(changes, summary, startedAt);
    }

    @Override
    public Outcome accept(Recovery by) throws IOException, InterruptedException {
      begun.merge(task.id(), 1, Integer::sum);
      Workspace open = workspace;
      if (open == null || !handedOver) {
        // Its worker is gone, and with it the folder; nothing at all would be taken for the work.
        throw new StepException(
            FailureClass.TRANSIENT_RUNTIME,
            "what was accepted is not here: it lies where the job was taken over");
      }
      Instant startedAt = Instant.now();
      Changes changes = Attempt.withoutClocks(() -> changes(open));
      String summary = "accepted by %s: %s".formatted(by.requestedBy(), by.reason());
      host.log("── step %s, %s".formatted(task.id(), scrubber.scrub(summary)));
      return new Outcome(changes, scrubber.scrub(summary), startedAt);
    }

    private Changes changes(Workspace open) throws IOException {
      if (!open.isWhole()) {
        throw new StepException(
            FailureClass.TRANSIENT_RUNTIME, "the workspace was deleted by whoever worked in it");
      }
      try {
        Changes changes = open.changes(site.patchBytes());
        scrubber.check(changes.patch());
        return changes;
      } catch (PatchTooLargeException tooLarge) {
        throw new StepException(
            FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(tooLarge.getMessage()), tooLarge);
      } catch (GitException trouble) {
        throw new StepException(
            trouble.failureClass(), String.valueOf(trouble.getMessage()), trouble);
      }
    }

    @Override
    public Step.Checkpoint checkpoint(Outcome outcome, int attempt) {
      Changes changes = outcome.changes();
      dev.holdfast.steps.Checkpoint kept =
          new dev.holdfast.steps.Checkpoint(
              task.id(),
              index,
              attempt,
              changes.diffHash(),
              changes.changedFiles(),
              outcome.summary(),
              outcome.startedAt(),
              Instant.now(),
              String.valueOf(baseline),
              changes.tree());
      try {
        Patch patch = Patch.of(Files.readAllBytes(changes.patch()));
        patches.write(kept, changes.patch());
        patches.dropFrom(index + 1);
        Workspace open = workspace;
        if (open != null) {
          open.accept(changes);
          lastTree = changes.tree();
        }
        done.keySet().removeIf(later -> later > index);
        done.put(index, kept);
        return new Step.Checkpoint(
            codec.encode(kept), patch, new Left(changes.diffHash(), changes.changedFiles()));
      } catch (IOException trouble) {
        throw new StepException(
            FailureClass.TRANSIENT_RUNTIME, "the checkpoint could not be written", trouble);
      }
    }

    @Override
    public Optional<Instant> lastChange() {
      return place().flatMap(LastChange::in);
    }

    @Override
    public boolean isWorkspaceLost() {
      Workspace open = workspace;
      return open != null && !open.isWhole();
    }

    /** What an operator does counts. */
    @Override
    public void handedOver() {
      lastTree = null;
      handedOver = true;
    }

    @Override
    public @Nullable Failed before() {
      return failedBefore.get(task.id());
    }

    @Override
    public Optional<String> snapshot() {
      Workspace open = workspace;
      try {
        return open == null ? Optional.empty() : Optional.of(open.snapshot());
      } catch (IOException | CancellationException unknown) {
        log.info("step {}: how it stands is unknown: {}", task.id(), said(unknown));
        return Optional.empty();
      }
    }

    @Override
    public List<String> changedSince(String snapshot) {
      Workspace open = workspace;
      try {
        return open == null ? List.of() : open.changedSince(snapshot);
      } catch (IOException | CancellationException unknown) {
        log.info("step {}: what was changed is unknown: {}", task.id(), said(unknown));
        return List.of();
      }
    }

    private String said(Exception trouble) {
      return scrubber.scrub(trouble.toString());
    }

    @Override
    public Left left() {
      Workspace open = workspace;
      if (open == null || !open.isWhole()) {
        return new Left(null, List.of());
      }
      try {
        Changes changes = open.changes(site.patchBytes());
        lastTree = changes.tree();
        return new Left(changes.diffHash(), changes.changedFiles());
      } catch (IOException | CancellationException unknown) {
        log.info("step {}: what it changed is unknown: {}", task.id(), said(unknown));
        return new Left(null, List.of());
      }
    }

    @Override
    public void failed(FailedAttempt failure, String summary, Strategy next) {
      Map<String, Object> record = new HashMap<>();
      record.put("stepId", task.id());
      record.put("stepIndex", index);
      record.put("attempt", failure.attempt());
      record.put("failureClass", failure.failureClass().text());
      record.put("failureSignature", failure.signature());
      record.put("diffHash", String.valueOf(failure.diffHash()));
      record.put("strategy", next.text());
      record.put("summary", summary);
      record.put("at", Instant.now().toString());
      Path file =
          site.folder()
              .resolve("state/self_heal")
              .resolve("attempt-%s-%d.json".formatted(fileName(task.id()), failure.attempt()));
      try {
        Synced.write(file, codec.encode(record).text());
      } catch (IOException unwritten) {
        log.warn("{} could not be written: {}", file, unwritten.toString());
      }
    }

    private static String fileName(String id) {
      return id.replace('/', '_').replace(':', '_');
    }

    @Override
    public Optional<Path> place() {
      Workspace open = workspace;
      return open == null ? Optional.empty() : Optional.of(open.work());
    }

    @Override
    public void hardReset() {
      // Rebuilt when the next attempt begins; until then the old one stays.
      workspace = null;
    }
  }
}
