package dev.holdfast.scenarios;

import dev.holdfast.app.Main;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestServer;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command for a process that runs {@link Main}, with a cache of the classes most of them load:
 * it halves what a start costs, and there are more than a hundred.
 */
final class Classes {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int CACHES_LINKED_CLASSES = 25;
  private static final Map<Boolean, List<String>> PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .collect(Collectors.partitioningBy(part -> part.endsWith(".jar")));
  private static final List<String> JARS = Objects.requireNonNull(PATH.get(true));
  private static final List<String> FOLDERS = Objects.requireNonNull(PATH.get(false));
  private static final boolean LINKED = Runtime.version().feature() >= CACHES_LINKED_CLASSES;
  private static final Path FILE =
      Path.of("target", LINKED ? "classes.aot" : "classes.jsa").toAbsolutePath();
  private static final List<String> CACHE = cache();

  private Classes() {}

  static List<String> jars() {
    return JARS;
  }

  static Path file() {
    return FILE;
  }

  /** Makes the cache now, when no test's time is running yet. */
  static void prepare() {
    // Done by the loading of this class.
  }

  /** Folders come last: the cache is for a class path that begins with all the jars. */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, Collection<String> arguments) {
    List<String> path = new ArrayList<>(JARS);
    path.addAll(FOLDERS);
    more.forEach(folder -> path.add(folder.toString()));
    List<String> options = new ArrayList<>(CACHE);
    options.addAll(jvm);
    return command(options, path, arguments);
  }

  private static List<String> command(
      List<String> options, List<String> path, Collection<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, path), Main.class.getName()));
    command.addAll(arguments);
    return command;
  }

  /** One for all the processes that run these tests side by side; made by the first. */
  private static List<String> cache() {
    Path lock = FILE.resolveSibling("classes.lock");
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.lock(); // until the channel is closed
      if (!isFresh()) {
        Files.deleteIfExists(FILE);
        make((LINKED ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + FILE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return List.of(
        (LINKED ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + FILE,
        // A cache that does not fit is no reason to speak: the process only starts more slowly.
        "-Xlog:disable");
  }

  private static boolean isFresh() {
    long made = FILE.toFile().lastModified();
    return JARS.stream().allMatch(jar -> new File(jar).lastModified() < made);
  }

  /** Everything that most of the processes do: an embedded server, the API, a worker. */
  private static void make(String option) {
    try (Processes processes = new Processes()) {
      String cache = "-Dholdfast.cache=" + TestServer.options(processes.folder()).cache();
      List<String> options =
          List.of(
              option,
              "-XX:+UseSerialGC",
              "-XX:+IgnoreUnrecognizedVMOptions",
              "-XX:+UnlockDiagnosticVMOptions",
              "-XX:-AOTRecordTraining",
              "-Xlog:disable",
              cache);
      ProcessBuilder builder =
          new ProcessBuilder(command(options, JARS, List.of("dev", "--rehearse")))
              .directory(processes.folder().toFile());
      Launch.clean(builder.environment());
      try (ChildProcess dev = ChildProcess.start(builder)) {
        dev.awaitLine("^ready", LIMIT);
        dev.signal("TERM");
        dev.awaitExit(LIMIT);
      }
    }
  }
}
