package dev.holdfast.scenarios;

import dev.holdfast.app.Main;
import dev.holdfast.app.OneJar;
import dev.holdfast.testkit.ChildProcess;
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
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command for a process that runs {@link Main}, with a cache of the classes that a worker
 * loads: that halves what a start costs, and there are more than two hundred. What has a server
 * inside needs twice as many; there are too few of those to make another cache for them.
 */
final class Classes {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int CACHES_LINKED_CLASSES = 25;
  // The product has none of these. The test kit would have every process read its file on logging.
  private static final Pattern FOR_TESTS =
      Pattern.compile(
          "/(holdfast-testkit|junit|assertj|byte-buddy|awaitility|hamcrest|opentest4j|apiguardian)-[^/]*$");
  private static final Map<Boolean, List<String>> PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .filter(FOR_TESTS.asPredicate().negate())
          .collect(Collectors.partitioningBy(part -> part.endsWith(".jar")));
  private static final List<String> JARS = Objects.requireNonNull(PATH.get(true));
  private static final List<String> FOLDERS = Objects.requireNonNull(PATH.get(false));
  private static final boolean LINKED = Runtime.version().feature() >= CACHES_LINKED_CLASSES;
  // The cache is where it was made to be, and not moved about; what is run a few hundred times is
  // not worth compiling in a process that lives for seconds; nor is it worth learning, for the
  // first date in an answer of the database, what a thousand languages call the days of the week.
  private static final List<String> QUICK =
      List.of(
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=0",
          "-XX:CompileThresholdScaling=5",
          "-Djava.locale.providers=SPI");
  private static final Path JAR = Path.of("target", "holdfast.jar").toAbsolutePath();
  private static final Path CACHE = JAR.resolveSibling("classes" + (LINKED ? ".aot" : ".jsa"));

  static {
    makeCache();
  }

  private Classes() {}

  /** The program, as {@code ./holdfast} runs it. */
  static Path jar() {
    return JAR;
  }

  static Path cache() {
    return CACHE;
  }

  /** Makes the cache now, when no test's time is running yet. */
  static void prepare() {
    // Done by the loading of this class.
  }

  /** Folders come last: a cache is for a class path that begins with the jar. */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, List<String> arguments) {
    List<String> path = new ArrayList<>(List.of(JAR.toString()));
    path.addAll(FOLDERS);
    more.forEach(folder -> path.add(folder.toString()));
    List<String> options = new ArrayList<>();
    options.add((LINKED ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + CACHE);
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
  private static void makeCache() {
    Path lock = CACHE.resolveSibling("classes.lock");
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.lock(); // until the channel is closed
      if (!isFresh()) {
        Files.deleteIfExists(CACHE);
        OneJar.write(JAR, JARS.stream().map(Path::of).toList());
        rehearse();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isFresh() {
    long made = CACHE.toFile().lastModified();
    return JARS.stream().allMatch(jar -> new File(jar).lastModified() < made);
  }

  private static void rehearse() {
    List<String> options =
        List.of(
            (LINKED ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + CACHE,
            "-XX:+UseSerialGC",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:-AOTRecordTraining",
            "-Xlog:disable");
    List<String> command =
        command(options, List.of(JAR.toString()), List.of("worker", "--examples"));
    try (OwnServer server = OwnServer.start();
        World world = server.world();
        ChildProcess worker = world.launch().begin(command)) {
      worker.awaitLine("^ready", LIMIT);
      worker.signal("TERM");
      worker.awaitExit(LIMIT);
    }
  }
}
