package dev.holdfast.chaos.load;

import dev.holdfast.model.job.Job;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Jobs of kind {@code workspace}: three steps of a program that each append their line to a file of
 * a small repository. Done once each, in order, they always leave the same files.
 */
public final class WorkspaceJobs {
  public static final String KIND = "workspace";
  public static final List<String> STEPS = List.of("one", "two", "three");

  private static final String RUNTIME = "append";
  // Faults break steps as often as they like; only a fault of the program may fail such a job.
  private static final int NEVER = 1_000;

  private final Path folder;
  private final String tree;

  private WorkspaceJobs(Path folder) throws IOException {
    this.folder = folder;
    Path script =
        Files.writeString(
            folder.resolve("append.sh"),
            """
            set -eu
            echo "$HOLDFAST_STEP_ID" >> lines.txt
            """);
    Files.writeString(
        settings(),
        """
        runtimes:
          %s:
            command: [/bin/sh, %s]
        """
            .formatted(RUNTIME, script));
    git("init", "-q", "-b", "main", ".");
    Files.writeString(repository().resolve("README"), "Lines of steps.\n");
    git("add", "-A");
    git("commit", "-q", "-m", "Begin");
    Files.write(repository().resolve("lines.txt"), STEPS);
    git("add", "-A");
    tree = git("write-tree");
    git("reset", "-q", "--hard");
  }

  /** Empty where git is not installed. */
  public static Optional<WorkspaceJobs> in(Path parent) {
    try {
      Path folder = Files.createDirectories(parent.resolve("workspace-jobs"));
      Files.createDirectories(folder.resolve("repository"));
      return Optional.of(new WorkspaceJobs(folder));
    } catch (IOException noGit) {
      return Optional.empty();
    }
  }

  /** For the workers. */
  public Path settings() {
    return folder.resolve("holdfast.yaml");
  }

  private Path repository() {
    return folder.resolve("repository");
  }

  /** Of all files when each step was done once. */
  public String tree() {
    return tree;
  }

  Job next() {
    return Job.of(
        KIND,
        Map.of(
            "objective",
            "A line of each step",
            "repository",
            Map.of("url", repository().toString(), "ref", "main"),
            "steps",
            STEPS.stream().map(step -> Map.of("id", step, "runtime", RUNTIME)).toList(),
            "budgets",
            Map.of(
                "stepMaxAttempts", NEVER,
                "stepNoProgressLimit", NEVER,
                "jobSelfHealMaxResets", NEVER)));
  }

  private String git(String... arguments) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder("git").directory(repository().toFile()).redirectErrorStream(true);
    builder.command().addAll(List.of(arguments));
    builder
        .environment()
        .putAll(
            Map.of(
                "GIT_CONFIG_GLOBAL", "/dev/null",
                "GIT_CONFIG_SYSTEM", "/dev/null",
                "GIT_AUTHOR_NAME", "Ada",
                "GIT_AUTHOR_EMAIL", "ada@localhost",
                "GIT_COMMITTER_NAME", "Ada",
                "GIT_COMMITTER_EMAIL", "ada@localhost"));
    Process process = builder.start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (process.onExit().join().exitValue() != 0) {
      throw new IOException("git " + List.of(arguments) + ": " + output);
    }
    return output;
  }
}
