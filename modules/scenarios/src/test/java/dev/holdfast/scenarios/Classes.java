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
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command for a process that runs {@link Main}, with a cache of the classes it loads: that
 * halves what a start costs, and there are more than two hundred. What has a server inside needs
 * twice the classes of all others, who would pay for them.
 */
final class Classes {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int CACHES_LINKED_CLASSES = 25;
  // The product has none of these. The test kit would have every process read its file on logging.
  private static final Pattern FOR_TESTS =
      Pattern.compile("/(holdfast-testkit|junit|assertj|awaitility|hamcrest)-[^/]*$");
  private static final Map<Boolean, List<String>> PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .filter(FOR_TESTS.asPredicate().negate())
          // First what is too old for a cache, and is looked for in one jar after the other.
          .sorted(Comparator.comparing(path -> !path.contains("/picocli-")))
          .collect(Collectors.partitioningBy(part -> part.endsWith(".jar")));
  private static final List<String> JARS = Objects.requireNonNull(PATH.get(true));
  private static final List<String> FOLDERS = Objects.requireNonNull(PATH.get(false));
  private static final boolean LINKED = Runtime.version().feature() >= CACHES_LINKED_CLASSES;
  // The cache is where it was made to be, and not moved about; what is run a few hundred times is
  // not worth compiling in a process that lives for seconds.
  private static final List<String> QUICK =
      List.of(
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=0",
          "-XX:CompileThresholdScaling=5");
  private static final Set<String> SERVERS = Set.of("dev", "server", "demo");
  private static final Path WITH_SERVER = cacheFile("server");
  private static final Path OTHERS = cacheFile("others");

  static {
    makeCaches();
  }

  private Classes() {}

  private static Path cacheFile(String of) {
    return Path.of("target", of + (LINKED ? ".aot" : ".jsa")).toAbsolutePath();
  }

  static List<String> jars() {
    return JARS;
  }

  static Path file() {
    return WITH_SERVER;
  }

  /** Makes the caches now, when no test's time is running yet. */
  static void prepare() {
    // Done by the loading of this class.
  }

  /** Folders come last: a cache is for a class path that begins with all the jars. */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, List<String> arguments) {
    List<String> path = new ArrayList<>(JARS);
    path.addAll(FOLDERS);
    more.forEach(folder -> path.add(folder.toString()));
    List<String> options = new ArrayList<>();
    options.add(
        (LINKED ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=")
            + (SERVERS.contains(arguments.getFirst()) ? WITH_SERVER : OTHERS));
    // A cache that does not fit is no reason to speak: the process only starts more slowly.
    options.add("-Xlog:disable");
    options.addAll(QUICK);
    options.addAll(jvm);
    return command(options, path, arguments);
  }

  private static List<String> command(
      List<String> options, List<String> path, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, path), Main.class.getName()));
    command.addAll(arguments);
    return command;
  }

  /** For all the processes that run these tests side by side; made by the first. */
  private static void makeCaches() {
    Path lock = WITH_SERVER.resolveSibling("classes.lock");
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.lock(); // until the channel is closed
      if (!isFresh(WITH_SERVER) || !isFresh(OTHERS)) {
        Files.deleteIfExists(WITH_SERVER);
        Files.deleteIfExists(OTHERS);
        rehearse();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isFresh(Path cache) {
    long made = cache.toFile().lastModified();
    return JARS.stream().allMatch(jar -> new File(jar).lastModified() < made);
  }

  /** Everything that most of the processes do: an embedded server and the API; a worker. */
  private static void rehearse() {
    try (Processes processes = new Processes();
        ChildProcess dev = rehearsal(processes, WITH_SERVER, "dev", "--rehearse")) {
      dev.awaitLine("^ready", LIMIT);
      try (ChildProcess worker = rehearsal(processes, OTHERS, "worker", "--examples")) {
        worker.awaitLine("^ready", LIMIT);
        end(worker);
      }
      end(dev);
    }
  }

  private static ChildProcess rehearsal(Processes processes, Path cache, String... arguments) {
    List<String> options =
        List.of(
            (LINKED ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + cache,
            "-XX:+UseSerialGC",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-AOTRecordTraining",
            "-Xlog:disable",
            "-Dholdfast.cache=" + TestServer.options(processes.folder()).cache());
    ProcessBuilder builder =
        new ProcessBuilder(command(options, JARS, List.of(arguments)))
            .directory(processes.folder().toFile());
    Launch.clean(builder.environment());
    return ChildProcess.start(builder);
  }

  private static void end(ChildProcess process) {
    process.signal("TERM");
    process.awaitExit(LIMIT);
  }
}
