package dev.holdfast.testkit.program;

import static dev.holdfast.testkit.Soon.SOON;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A process of the command line that is about to be started. */
public final class Launch {
  // Small and quick to start: there are up to eight of them on two cores.
  private static final List<String> SMALL =
      List.of("-Xmx80m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
  private static final Set<String> SETTINGS =
      Set.of(
          "MAX_CONCURRENCY",
          "SHUTDOWN_TIMEOUT_SEC",
          "HEARTBEAT_INTERVAL_SEC",
          "LEASE_TIMEOUT_SEC",
          "CANCEL_GRACE_SEC",
          "HEARTBEAT_INTERVAL_MS",
          "HEARTBEAT_TIMEOUT_MS",
          "CANCEL_GRACE_PERIOD_MS",
          "TOKEN_TTL_SECONDS",
          "HIGH_WATERMARK",
          "LOAD_THRESHOLD",
          "PAUSE_INTERVAL_SEC",
          "MAX_ATTEMPTS",
          "KEEP_SCRATCH_ON_SUCCESS");

  /** How a command ended and what it said. */
  public record Answer(int code, List<String> out, List<String> err) {}

  private final Path folder;
  private final Consumer<ChildProcess> started;
  private final List<String> before = new ArrayList<>();
  private final List<String> jvm = new ArrayList<>(SMALL);
  private final List<String> arguments = new ArrayList<>();
  private final Map<String, String> environment = new HashMap<>();
  private final List<Path> classPath = new ArrayList<>();

  Launch(Path folder, Consumer<ChildProcess> started) {
    this.folder = folder;
    this.started = started;
  }

  public Launch arguments(String... more) {
    arguments.addAll(List.of(more));
    return this;
  }

  public Launch env(String name, String value) {
    environment.put(name, value);
    return this;
  }

  public Launch property(String name, Object value) {
    jvm.add("-D" + name + "=" + value);
    return this;
  }

  /** For one of a crowd with much to do: whatever else is tested at the time goes first. */
  public Launch modestly() {
    before.addAll(List.of("nice", "-n", "10"));
    jvm.add("-XX:CompileThresholdScaling=1");
    return this;
  }

  /** For a process with much to do: what it does often is compiled at once. */
  public Launch busy() {
    jvm.add("-XX:CompileThresholdScaling=1");
    return this;
  }

  /** With further folders of classes, or jars. */
  public Launch classPath(Path... entries) {
    classPath.addAll(List.of(entries));
    return this;
  }

  /** On a test's database, even one that does not flush to the disk. */
  public Launch on(TestDatabase database) {
    return env("HOLDFAST_DATABASE_URL", database.url())
        .env("HOLDFAST_DATABASE_USER", database.user())
        .env("HOLDFAST_DATABASE_PASSWORD", database.password())
        .env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "true");
  }

  /** Starts it and returns at once. */
  public ChildProcess begin() {
    return begin(command());
  }

  /** Starts another command with this environment, and returns at once. */
  public ChildProcess begin(List<String> command) {
    ChildProcess child = ChildProcess.start(inPlace(command));
    started.accept(child);
    return child;
  }

  /** Starts it and returns when it says that it is ready. */
  public ChildProcess start() {
    ChildProcess child = begin();
    child.awaitLine("^ready", SOON);
    return child;
  }

  /** Starts several at once. */
  public List<ChildProcess> start(int count) {
    List<ChildProcess> children = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      children.add(begin());
    }
    children.forEach(child -> child.awaitLine("^ready", SOON));
    return children;
  }

  /** Runs it to its end. */
  public Answer run() {
    try {
      Path out = Files.createTempFile(folder, "out", ".txt");
      Path err = Files.createTempFile(folder, "err", ".txt");
      Process process =
          inPlace(command())
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      try {
        if (!process.waitFor(SOON.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new AssertionError(arguments + " does not end: " + Files.readString(err));
        }
      } finally {
        process.destroyForcibly();
      }
      Answer answer =
          new Answer(process.exitValue(), Files.readAllLines(out), Files.readAllLines(err));
      Files.delete(out);
      Files.delete(err);
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(before);
    command.addAll(AssembledProgram.command(jvm, classPath, arguments));
    return command;
  }

  private ProcessBuilder inPlace(List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    clean(builder.environment());
    builder.environment().putAll(environment);
    return builder;
  }

  /** What is set where the tests run must not reach the processes under test. */
  public static void clean(Map<String, String> environment) {
    environment.keySet().removeIf(name -> name.startsWith("HOLDFAST_") || SETTINGS.contains(name));
    // Any port: several of them run at once.
    environment.put("HOLDFAST_SERVER_PORT", "0");
  }
}
