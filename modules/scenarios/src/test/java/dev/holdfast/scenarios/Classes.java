package dev.holdfast.scenarios;

import dev.holdfast.app.Main;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The command for a process that runs {@link Main}, with an archive of the classes most of them
 * load: it halves the time they take to start, and there are more than a hundred.
 */
final class Classes {
  private static final Map<Boolean, List<String>> PATH =
      Stream.of(Objects.requireNonNull(System.getProperty("java.class.path")))
          .flatMap(path -> Stream.of(path.split(File.pathSeparator, -1)))
          .collect(Collectors.partitioningBy(part -> part.endsWith(".jar")));
  private static final List<String> JARS = Objects.requireNonNull(PATH.get(true));
  private static final List<String> FOLDERS = Objects.requireNonNull(PATH.get(false));
  private static final List<String> ARCHIVE = makeArchive();

  private Classes() {}

  /** Folders come last: the archive is for a class path that begins with all the jars. */
  static List<String> command(
      Collection<String> jvm, Collection<Path> more, Collection<String> arguments) {
    List<String> path = new ArrayList<>(JARS);
    path.addAll(FOLDERS);
    more.forEach(folder -> path.add(folder.toString()));
    List<String> options = new ArrayList<>(ARCHIVE);
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

  /** No options where it cannot be made, such as for a class path of folders alone. */
  private static List<String> makeArchive() {
    try {
      Path folder = Files.createTempDirectory("holdfast-classes-");
      folder.toFile().deleteOnExit();
      Path archive = folder.resolve("classes.jsa");
      archive.toFile().deleteOnExit();
      List<String> options =
          List.of("-XX:ArchiveClassesAtExit=" + archive, "-XX:+UseSerialGC", "-Xlog:disable");
      // Fails, but comes as far as the driver.
      List<String> arguments = List.of("jobs", "list", "--database", "postgres://127.0.0.1:1/x");
      Process made =
          new ProcessBuilder(command(options, JARS, arguments))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      boolean complete = made.waitFor(1, TimeUnit.MINUTES);
      made.destroyForcibly();
      return complete && Files.exists(archive)
          ? List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:disable")
          : List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
