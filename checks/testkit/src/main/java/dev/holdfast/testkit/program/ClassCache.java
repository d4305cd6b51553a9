package dev.holdfast.testkit.program;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A cache of the classes that a process loads: it halves what a start costs, and tests start more
 * than two hundred processes. One for workers and one for what has a server inside, which loads
 * twice as many.
 */
public final class ClassCache {
  private static final int CACHES_LINKED_CLASSES = 25;
  // A crowded machine has taken more than two minutes for it.
  private static final Duration TIMEOUT = Duration.ofMinutes(10);
  private static final String JOBS = "rehearsal";
  private static final boolean LINKED = Runtime.version().feature() >= CACHES_LINKED_CLASSES;

  public static final ClassCache WORKER =
      new ClassCache("worker", List.of("worker", "--examples", "--queue", JOBS));
  public static final ClassCache SERVER =
      new ClassCache("server", List.of("dev", "--rehearse", "--http-port", "0"));

  private final Path file;
  private final List<String> rehearsal;
  private boolean made;

  private ClassCache(String name, List<String> rehearsal) {
    this.file = AssembledProgram.target().resolve("test-" + name + (LINKED ? ".aot" : ".jsa"));
    this.rehearsal = rehearsal;
  }

  /** Made by whoever needs it first. */
  public synchronized Path file() {
    if (!made) {
      AssembledProgram.make(file, AssembledProgram.jar(), this::rehearse);
      made = true;
    }
    return file;
  }

  /** For the JVM. */
  List<String> options() {
    return List.of(
        (LINKED ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + file(),
        // It is mapped at the address for which it was made.
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:ArchiveRelocationMode=0",
        // One that does not fit is no reason to speak: the process only starts more slowly.
        "-Xlog:disable");
  }

  private void rehearse() throws IOException {
    Files.deleteIfExists(file);
    List<String> options = new ArrayList<>();
    options.add((LINKED ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + file);
    options.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-AOTRecordTraining",
            "-Xlog:disable"));
    try (TestDatabase database = TestDatabase.fresh();
        Processes processes = new Processes()) {
      boolean runsJobs = rehearsal.contains(JOBS);
      if (runsJobs) {
        // Much of what a worker loads it needs for its jobs, and for one that fails at first.
        enqueue(processes, database, "sleep", "{\"seconds\": 0.1}");
        enqueue(processes, database, "flaky", "{}");
      }
      ChildProcess process = processes.launch().on(database).begin(command(options, rehearsal));
      process.awaitLine("^ready", TIMEOUT);
      if (runsJobs) {
        Eventually.until(TIMEOUT, "both jobs are done", () -> succeeded(database) == 2);
      }
      process.signal("TERM");
      process.awaitExit(TIMEOUT);
    }
  }

  private static void enqueue(
      Processes processes, TestDatabase database, String kind, String payload) {
    List<String> command = command(List.of(), List.of("enqueue", kind, payload, "--queue", JOBS));
    ChildProcess process = processes.launch().on(database).begin(command);
    if (process.awaitExit(TIMEOUT) != 0) {
      throw new IllegalStateException("cannot enqueue " + kind + ": " + process.lines());
    }
  }

  private static long succeeded(TestDatabase database) {
    return database.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
  }

  private static List<String> command(List<String> options, List<String> arguments) {
    return AssembledProgram.command(options, List.of(AssembledProgram.jar().toString()), arguments);
  }
}
