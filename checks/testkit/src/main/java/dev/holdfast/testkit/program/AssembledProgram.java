package dev.holdfast.testkit.program;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * The program as the build assembles it, {@code modules/app/target/program}: the jar that {@code
 * ./holdfast} runs, with the jars beside it. Nothing of the class path of the tests is used.
 */
public final class AssembledProgram {
  private static final String MAIN = "dev.holdfast.app.Main";
  private static final Path TARGET = checkout().resolve("modules/app/target");
  private static final Path JAR = TARGET.resolve("program/holdfast.jar");
  private static final Set<String> SERVERS = Set.of("dev", "demo", "server");
  // What is run a few hundred times is not worth compiling in a process that lives for seconds.
  // Without CLDR the first date from the database does not load the names of days in all languages.
  private static final List<String> QUICK =
      List.of("-XX:CompileThresholdScaling=5", "-Djava.locale.providers=SPI");

  private AssembledProgram() {}

  /** The folder with the launcher, found from the module whose tests run. */
  public static Path checkout() {
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.isRegularFile(folder.resolve("holdfast"))) {
        return folder;
      }
    }
    throw new IllegalStateException(
        "no launcher in any folder above " + Path.of("").toAbsolutePath());
  }

  /** {@code holdfast.jar}; {@code lib/} lies beside it. */
  public static Path jar() {
    if (!Files.isRegularFile(JAR)) {
      throw new IllegalStateException(
          JAR + " is missing: run the tests with './test', which packages the program first");
    }
    return JAR;
  }

  /** Makes the class cache of workers now, when no test's time is running yet. */
  public static void prepare() {
    ClassCache.WORKER.file();
  }

  /** Options for the JVM of a server that a script starts: it starts in half the time with them. */
  public static String serverOptions() {
    return options(ClassCache.SERVER);
  }

  /** Options for the JVM of a worker whose class path begins with the jar of the program. */
  public static String workerOptions() {
    return options(ClassCache.WORKER) + " -XX:TieredStopAtLevel=1";
  }

  private static String options(ClassCache cache) {
    List<String> options = new ArrayList<>(cache.options());
    options.addAll(QUICK);
    return String.join(" ", options);
  }

  static Path target() {
    return TARGET;
  }

  /**
   * The command for a process of the program.
   *
   * @param more folders and jars behind the program on the class path, as with HOLDFAST_CLASSPATH
   */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, List<String> arguments) {
    List<String> path = new ArrayList<>(List.of(jar().toString()));
    more.forEach(entry -> path.add(entry.toString()));
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
    command.addAll(List.of("-cp", String.join(File.pathSeparator, path), MAIN));
    command.addAll(arguments);
    return command;
  }

  /** How a file is made. */
  interface Maker {
    void make() throws IOException;
  }

  /**
   * Makes a file, unless it is younger than what it is made of: for all the processes that run
   * tests side by side, by the first.
   */
  static void make(Path file, Path from, Maker maker) {
    Path lock = file.resolveSibling(file.getFileName() + ".lock");
    // A file lock is for other processes, and not for other threads.
    synchronized (AssembledProgram.class) {
      try (FileChannel channel =
          FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        channel.lock(); // until the channel is closed
        if (from.toFile().lastModified() >= file.toFile().lastModified()) {
          maker.make();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
