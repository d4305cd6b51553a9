package dev.holdfast.app.demo;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.terminal.Terminal;
import dev.holdfast.process.NoSuchProgramException;
import dev.holdfast.process.Programs;
import dev.holdfast.worker.artifact.FileTrees;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What the demo needs on disk: a scripted agent, a small repository, a video, and settings. */
public final class DemoStage implements AutoCloseable {
  private static final long TIMEOUT_SECONDS = 60;

  private final Path folder;

  private DemoStage(Path folder) {
    this.folder = folder;
  }

  public static DemoStage in(Path folder) {
    try {
      Files.createDirectories(folder);
      return new DemoStage(Files.createTempDirectory(folder.toAbsolutePath(), "demo-"));
    } catch (IOException cannot) {
      throw new CommandException(
          ExitCode.LOCAL_ERROR, "the demo needs a folder: " + folder + " cannot be written");
    }
  }

  static boolean has(String program) {
    try {
      Path unused = Programs.find(program, Path.of(""), System.getenv("PATH"));
      return true;
    } catch (NoSuchProgramException missing) {
      return false;
    }
  }

  /** Settings for its workers: the agent as a runtime, and little timeout with hanging steps. */
  public Path settings() {
    Path agent = folder.resolve("agent.sh");
    try (InputStream script =
        Objects.requireNonNull(DemoStage.class.getResourceAsStream("agent.sh"))) {
      Files.copy(script, agent);
      return Files.writeString(
          folder.resolve("holdfast.yaml"),
          """
          runtimes:
            agent:
              command: [/bin/sh, ./agent.sh]
          steps:
            idleTimeout: 5s
          """);
    } catch (IOException cannot) {
      throw new UncheckedIOException(cannot);
    }
  }

  /** A repository with one commit; null where there is no git. */
  @Nullable Path repository() {
    if (!has("git")) {
      return null;
    }
    Path repository = folder.resolve("greetings");
    run("git", "init", "-q", "-b", "main", repository.toString());
    try {
      Files.writeString(repository.resolve("LICENSE"), "A place for greetings.\n");
    } catch (IOException cannot) {
      throw new UncheckedIOException(cannot);
    }
    run("git", "-C", repository.toString(), "add", "-A");
    run("git", "-C", repository.toString(), "commit", "-q", "-m", "A place for greetings");
    return repository;
  }

  /** Ten seconds of moving pictures; null where there is no ffmpeg. */
  @Nullable Path video() {
    if (!has("ffmpeg")) {
      return null;
    }
    Path video = folder.resolve("video.mp4");
    run(
        "ffmpeg",
        "-nostdin",
        "-v",
        "error",
        "-y",
        "-f",
        "lavfi",
        "-i",
        "testsrc=duration=10:size=320x180:rate=15",
        "-pix_fmt",
        "yuv420p",
        video.toString());
    return video;
  }

  private void run(String... command) {
    ProcessBuilder builder =
        new ProcessBuilder(List.of(command))
            .directory(folder.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder
        .environment()
        .putAll(
            Map.of(
                "GIT_CONFIG_GLOBAL", "/dev/null",
                "GIT_AUTHOR_NAME", "Ada",
                "GIT_AUTHOR_EMAIL", "ada@localhost",
                "GIT_COMMITTER_NAME", "Ada",
                "GIT_COMMITTER_EMAIL", "ada@localhost"));
    try {
      Process process = builder.start();
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new CommandException(
            ExitCode.LOCAL_ERROR, "the demo could not run " + String.join(" ", command));
      }
    } catch (IOException cannot) {
      throw new UncheckedIOException(cannot);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.UNEXPECTED, "the demo was interrupted");
    }
  }

  @Override
  public void close() {
    try {
      FileTrees.delete(folder);
    } catch (IOException left) {
      Terminal.error("holdfast: " + folder + " could not be deleted: " + left.getMessage());
    }
  }
}
