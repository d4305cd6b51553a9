package dev.holdfast.workspace;

import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.value.Codec;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.attempt.AttemptContext;
import dev.holdfast.worker.attempt.CodeSteps;
import dev.holdfast.worker.attempt.SafeEnvironment;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
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

/** Runs the steps of a workspace job in its scratch folder, and publishes their patches. */
final class WorkspaceHandler implements Handler<WorkspaceJob> {
  /** Between asking a runtime to end and killing it; less where a handler has less to stop. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final Workspaces workspaces;
  private final Codec codec;

  WorkspaceHandler(Workspaces workspaces, Codec codec) {
    this.workspaces = workspaces;
    this.codec = codec;
  }

  @Override
  public @Nullable Object handle(WorkspaceJob job, JobContext context) throws Exception {
    AttemptContext running = (AttemptContext) context;
    AttemptContext.Healer healer = running.healer();
    CodeSteps.Opened steps = running.steps().open();
    Path folder = context.scratch();
    Duration grace = healer.grace().dividedBy(2);
    WorkspaceRun run =
        new WorkspaceRun(
            job,
            new WorkspaceRun.Site(
                folder,
                workspaces.cache(),
                git(folder),
                workspaces.runtimes(),
                SafeEnvironment.of(System.getenv()),
                grace.compareTo(GRACE) < 0 ? grace : GRACE,
                workspaces.patchBytes()),
            codec,
            healer.healing().scrubber(),
            steps.loop(),
            running.interventions(),
            new Here(running, steps, healer));
    try {
      WorkspaceRun.Result result = run.run(steps.known(), healer.healing().budgets());
      publish(context, folder, result);
      return result;
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      context.checkCancelled();
      throw stopped;
    }
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

  private static void publish(JobContext context, Path folder, WorkspaceRun.Result result)
      throws IOException {
    Map<String, Path> files = new TreeMap<>();
    try (DirectoryStream<Path> patches =
        Files.newDirectoryStream(folder.resolve("patches/steps"), "*.patch")) {
      patches.forEach(patch -> files.put(patch.getFileName().toString(), patch));
    }
    context.publish(files, result);
  }

  private record Here(AttemptContext context, CodeSteps.Opened steps, AttemptContext.Healer healer)
      implements WorkspaceRun.Host {
    @Override
    public Optional<Patch> patch(String step) {
      return healer.patch(step);
    }

    @Override
    public void alive() {
      steps.loop().alive();
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
