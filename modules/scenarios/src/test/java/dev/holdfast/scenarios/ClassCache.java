package dev.holdfast.scenarios;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A cache of the classes that a process loads: that halves what its start costs, and there are more
 * than two hundred. What has a server inside needs twice as many, which a worker had better not
 * carry along.
 */
final class ClassCache {
  private static final int CACHES_LINKED_CLASSES = 25;
  // A crowded machine has taken more than two minutes for it.
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final boolean LINKED = Runtime.version().feature() >= CACHES_LINKED_CLASSES;

  static final ClassCache WORKER = new ClassCache("worker", List.of("worker", "--examples"));
  static final ClassCache SERVER =
      new ClassCache("server", List.of("dev", "--rehearse", "--http-port", "0"));

  private final Path file;
  private final List<String> rehearsal;
  private boolean made;

  private ClassCache(String name, List<String> rehearsal) {
    this.file = Classes.jar().resolveSibling(name + (LINKED ? ".aot" : ".jsa"));
    this.rehearsal = rehearsal;
  }

  /** Made by whoever needs it first. */
  synchronized Path file() {
    if (!made) {
      Classes.make(file, List.of(Classes.jar().toString()), this::rehearse);
      made = true;
    }
    return file;
  }

  /** For the JVM. */
  List<String> options() {
    return List.of(
        (LINKED ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + file(),
        // It is where it was made to be, and not moved about.
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
    List<String> command = Classes.command(options, List.of(Classes.jar().toString()), rehearsal);
    try (OwnServer server = OwnServer.start();
        World world = server.world();
        ChildProcess process = world.launch().begin(command)) {
      process.awaitLine("^ready", PATIENCE);
      process.signal("TERM");
      process.awaitExit(PATIENCE);
    }
  }
}
