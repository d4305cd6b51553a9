package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand.Recovery;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import dev.holdfast.steps.FailedAttempt;
import dev.holdfast.steps.FailureClass;
import dev.holdfast.steps.Interventions;
import dev.holdfast.steps.RedirectException;
import dev.holdfast.steps.Step;
import dev.holdfast.steps.StepAttempt;
import dev.holdfast.steps.StepException;
import dev.holdfast.steps.StepLoop;
import dev.holdfast.steps.Strategy;
import dev.holdfast.workspace.git.Changes;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.GitException;
import dev.holdfast.workspace.git.PatchTooLargeException;
import dev.holdfast.workspace.git.Synced;
import dev.holdfast.workspace.git.Workspace;
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
  private final JobWorkspace workspace;
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
    this.workspace =
        new JobWorkspace(
            job.repository().repository(), site, scrubber, interventions, host, patches, done);
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
    return new Result(workspace.baseline(), last == null ? "" : last.tree(), done.size(), changed);
  }

  private void remember(List<StepStatus> known) {
    for (StepStatus step : known) {
      begun.put(step.id(), step.attempt());
      Json json = step.checkpoint();
      if (step.isDone() && json != null) {
        Checkpoint checkpoint = codec.decode(json, Checkpoint.class);
        done.put(step.index(), checkpoint);
        workspace.beginsAt(checkpoint.baseline());
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
      Workspace open = StepAttempt.withoutClocks(() -> workspace.ready(index, this::tell));
      Instant startedAt = Instant.now();
      String summary = runtime.run(open.work(), retry);
      return new Outcome(StepAttempt.withoutClocks(this::changes), summary, startedAt);
    }

    private void tell(String line) {
      host.progress(
          percent, Text.excerpt(title(task) + ": " + line, Limits.PROGRESS_MESSAGE_CHARS));
    }

    @Override
    public Outcome accept(Recovery by) throws IOException, InterruptedException {
      begun.merge(task.id(), 1, Integer::sum);
      if (!workspace.isHandedOver()) {
        // Its worker is gone, and with it the folder; nothing at all would be taken for the work.
        throw new StepException(
            FailureClass.TRANSIENT_RUNTIME,
            "what was accepted is not here: it lies where the job was taken over");
      }
      Instant startedAt = Instant.now();
      Changes changes = StepAttempt.withoutClocks(this::changes);
      String summary = "accepted by %s: %s".formatted(by.requestedBy(), by.reason());
      host.log("── step %s, %s".formatted(task.id(), scrubber.scrub(summary)));
      return new Outcome(changes, scrubber.scrub(summary), startedAt);
    }

    private Changes changes() throws IOException {
      Workspace open =
          workspace
              .current()
              .orElseThrow(
                  () ->
                      new StepException(
                          FailureClass.TRANSIENT_RUNTIME,
                          "the workspace was deleted by whoever worked in it"));
      try {
        Changes changes = open.changes(site.patchBytes());
        if (scrubber.findsIn(changes.patch())) {
          // Changes cannot be scrubbed and stay what they are.
          throw new StepException(
              FailureClass.DETERMINISTIC_POLICY,
              "the changes hold a secret of this worker: take it out of the files");
        }
        return changes;
      } catch (PatchTooLargeException tooLarge) {
        throw new StepException(
            FailureClass.DETERMINISTIC_CONTRACT, String.valueOf(tooLarge.getMessage()), tooLarge);
      } catch (GitException trouble) {
        throw trouble.asStepFailure();
      }
    }

    @Override
    public Step.Checkpoint checkpoint(Outcome outcome, int attempt) {
      Changes changes = outcome.changes();
      dev.holdfast.workspace.Checkpoint kept =
          new dev.holdfast.workspace.Checkpoint(
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
        patches.write(kept, changes.patch());
        patches.dropFrom(index + 1);
        workspace.accept(changes);
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
      return workspace.isLost();
    }

    @Override
    public void handedOver() {
      workspace.handOver();
    }

    @Override
    public @Nullable Failed before() {
      return failedBefore.get(task.id());
    }

    @Override
    public Optional<String> snapshot() {
      Optional<Workspace> open = workspace.current();
      try {
        return open.isEmpty() ? Optional.empty() : Optional.of(open.get().tree());
      } catch (IOException | CancellationException unknown) {
        log.info("step {}: how it stands is unknown: {}", task.id(), said(unknown));
        return Optional.empty();
      }
    }

    @Override
    public List<String> changedSince(String snapshot) {
      Optional<Workspace> open = workspace.current();
      try {
        return open.isEmpty() ? List.of() : open.get().changedSince(snapshot);
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
      Optional<Workspace> open = workspace.current();
      if (open.isEmpty()) {
        return new Left(null, List.of());
      }
      try {
        Changes changes = open.get().changes(site.patchBytes());
        workspace.isLeftWith(changes.tree());
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
      return workspace.place();
    }

    @Override
    public void hardReset() {
      workspace.abandon();
    }
  }
}
