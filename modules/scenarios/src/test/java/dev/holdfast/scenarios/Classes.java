package dev.holdfast.scenarios;

import dev.holdfast.app.Main;
import dev.holdfast.app.OneJar;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The command for a process that runs {@link Main}, from one jar as {@code ./holdfast} has it. */
final class Classes {
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
  private static final Path JAR = Path.of("target", "holdfast.jar").toAbsolutePath();
  private static final Set<String> SERVERS = Set.of("dev", "demo", "server");
  // What is run a few hundred times is not worth compiling in a process that lives for seconds; nor
  // is it worth learning, for the first date in an answer of the database, what a thousand
  // languages call the days of the week.
  private static final List<String> QUICK =
      List.of("-XX:CompileThresholdScaling=5", "-Djava.locale.providers=SPI");

  static {
    make(JAR, JARS, () -> OneJar.write(JAR, JARS.stream().map(Path::of).toList()));
  }

  private Classes() {}

  /** Makes something now, when no test's time is running yet. */
  static void prepare() {
    ClassCache.WORKER.file();
  }

  /** The program. */
  static Path jar() {
    return JAR;
  }

  /** Folders come last: a cache is for a class path that begins with the jar. */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, List<String> arguments) {
    List<String> path = new ArrayList<>(List.of(JAR.toString()));
    path.addAll(FOLDERS);
    more.forEach(folder -> path.add(folder.toString()));
    ClassCache cache =
        SERVERS.contains(arguments.getFirst()) ? ClassCache.SERVER : ClassCache.WORKER;
    List<String> options = new ArrayList<>(cache.options());
    options.addAll(QUICK);
    options.addAll(jvm);
    return command(options, path, arguments);
  }

  static List<String> command(List<String> options, List<String> path, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, path), Main.class.getName()));
    command.addAll(arguments);
    return command;
  }

  /** How a file is made. */
  interface Maker {
    void make() throws IOException;
  }

  /**
   * Makes a file, unless it is younger than what it is made of: for all the processes that run
   * these tests side by side, by the first.
   */
  static void make(Path file, Collection<String> from, Maker maker) {
    Path lock = file.resolveSibling(file.getFileName() + ".lock");
    // A file lock is for other processes, and not for other threads.
    synchronized (Classes.class) {
      try (FileChannel channel =
          FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.lock(); // until the channel is closed
        long made = file.toFile().lastModified();
        if (from.stream().anyMatch(part -> new File(part).lastModified() >= made)) {
          maker.make();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
