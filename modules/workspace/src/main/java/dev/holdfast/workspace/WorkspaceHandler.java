package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.process.SafeEnvironment;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobSteps;
import dev.holdfast.worker.handler.JobWaits;
import dev.holdfast.worker.steps.UnpreparedException;
import dev.holdfast.workspace.git.Git;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the steps of a workspace job in its scratch folder, and publishes their patches. */
final class WorkspaceHandler implements Handler<WorkspaceJob> {
  /** Between asking a runtime to end and killing it; less where a handler has less to stop. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Logger log = LoggerFactory.getLogger(WorkspaceHandler.class);

  private final Workspaces workspaces;
  private final Codec codec;
  private final Scrubber scrubber;
  private final PreparationWaits waits = new PreparationWaits();

  WorkspaceHandler(Workspaces workspaces, Codec codec, Scrubber scrubber) {
    this.workspaces = workspaces;
    this.codec = codec;
    this.scrubber = scrubber;
  }

  @Override
  public @Nullable Object handle(WorkspaceJob job, JobContext context) throws Exception {
    JobSteps.Opened steps = context.steps().open();
    WorkspaceRun.Scope scope =
        new WorkspaceRun.Scope(
            job,
            site(context),
            codec,
            scrubber,
            context.steps().commands(),
            new AttemptHost(context));
    boolean prepared = true;
    try {
      WorkspaceRun.Result result =
          new WorkspaceRun(scope, steps.loop()).run(steps.known(), context.steps().budgets());
      publish(context, result);
      return result;
    } catch (UnpreparedException notNow) {
      prepared = false;
      throw later(context, String.valueOf(notNow.getMessage()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      context.checkCancelled();
      throw stopped;
    } finally {
      if (prepared) {
        waits.end(context.id());
      }
    }
  }

  /** At no cost to the job or its steps: neither has failed. Another worker may have more luck. */
  private RuntimeException later(JobContext context, String why) {
    Optional<Duration> next = waits.next(context.id());
    if (next.isEmpty()) {
      return FailedException.of(FailureCategory.INFRASTRUCTURE, "WORKSPACE_UNPREPARED", why);
    }
    Duration delay = next.get();
    log.warn("{}: its workspace could not be prepared; again in {}: {}", context.id(), delay, why);
    context.log("── the workspace could not be prepared, again in %s: %s".formatted(delay, why));
    context.event("workspace:unprepared", Map.of("message", why, "seconds", delay.toSeconds()));
    return context.snooze(delay);
  }

  private WorkspaceRun.Site site(JobContext context) {
    Path folder = context.scratch();
    Duration grace = context.grace().dividedBy(2);
    return new WorkspaceRun.Site(
        folder,
        workspaces.cache(),
        git(folder),
        workspaces.runtimes(),
        SafeEnvironment.of(System.getenv()),
        grace.compareTo(GRACE) < 0 ? grace : GRACE,
        workspaces.patchBytes());
  }

  private Git git(Path folder) {
    Map<String, String> visible = new HashMap<>(workspaces.gitEnvironment());
    String path = System.getenv("PATH");
    if (path != null) {
      visible.putIfAbsent("PATH", path);
    }
    try {
      return Git.installed(folder.resolve(Scratch.OURS).resolve("git"), visible)
          .within(workspaces.gitTimeout());
    } catch (IOException unusable) {
      throw FailedException.of(
          FailureCategory.CONFIGURATION, "GIT_UNUSABLE", String.valueOf(unusable.getMessage()));
    }
  }

  private static void publish(JobContext context, WorkspaceRun.Result result) throws IOException {
    Map<String, Path> files = new TreeMap<>();
    try (DirectoryStream<Path> patches =
        Files.newDirectoryStream(context.scratch().resolve("patches/steps"), "*.patch")) {
      patches.forEach(patch -> files.put(patch.getFileName().toString(), patch));
    }
    context.publish(files, result);
  }

  private record AttemptHost(JobContext context) implements WorkspaceRun.Host {
    @Override
    public Optional<Patch> patch(String step) {
      return context.steps().patch(step);
    }

    @Override
    public JobWaits.Over await(int index, Wait wait) {
      return context.waits().await(index, wait);
    }

    @Override
    public void alive() {
      context.alive();
    }

    @Override
    public void log(String line) {
      context.log(line);
    }

    @Override
    public void progress(int percent, String message) {
      context.progress(percent, message);
    }
  }
}
