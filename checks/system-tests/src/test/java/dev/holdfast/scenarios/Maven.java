package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Real Maven, with a local repository in which nothing of ours is installed. Everything else is
 * that of the user, by symbolic links, so that nothing is downloaded twice.
 */
final class Maven {
  /** A first run may have to download plugins, on a machine that has other builds to do. */
  private static final Duration TIMEOUT = Duration.ofMinutes(12);

  private static final String OURS = "holdfast";

  private final Path repository;
  private final Map<String, String> environment = new HashMap<>();

  private Maven(Path repository) {
    this.repository = repository;
    String java = System.getProperty("java.home");
    // Where Maven runs on another JDK, it finds this one by a variable of such a name.
    environment.put("JAVA" + Runtime.version().feature() + "_HOME", java);
    environment.put("JAVA_HOME", java);
    environment.put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
  }

  static Maven withRepository(Path repository) throws IOException {
    Path user =
        Path.of(
            System.getProperty(
                "localRepository", System.getProperty("user.home") + "/.m2/repository"));
    Path groups = Files.createDirectories(user.resolve("dev"));
    link(user, repository, "dev");
    link(groups, repository.resolve("dev"), OURS);
    return new Maven(repository);
  }

  private static void link(Path from, Path to, String except) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> entries = Files.list(from)) {
      for (Path entry : entries.filter(Files::isDirectory).toList()) {
        if (!entry.endsWith(except)) {
          Files.createSymbolicLink(to.resolve(entry.getFileName()), entry.toAbsolutePath());
        }
      }
    }
  }

  Maven env(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** The artifacts of Holdfast that are installed so far. */
  List<String> installed() throws IOException {
    try (Stream<Path> artifacts = Files.list(repository.resolve("dev").resolve(OURS))) {
      return artifacts.map(artifact -> artifact.getFileName().toString()).toList();
    }
  }

  /** A command as the documents have it, which must succeed. */
  List<String> run(Path folder, String command) {
    return run(folder, command, 0);
  }

  List<String> run(Path folder, String command, int code) {
    List<String> arguments = new ArrayList<>(List.of(command.split(" ")));
    assertThat(arguments).startsWith("mvn");
    arguments.addAll(1, List.of("-B", "-ntp", "-Dstyle.color=never"));
    arguments.add(1, "-Dmaven.repo.local=" + repository);
    ProcessBuilder builder = new ProcessBuilder(arguments).directory(folder.toFile());
    builder.environment().putAll(environment);
    try (ChildProcess maven = ChildProcess.start(builder)) {
      int end = maven.awaitExit(TIMEOUT);
      List<String> lines = maven.lines();
      assertThat(end).as("%s%n%s", command, String.join("\n", lines)).isEqualTo(code);
      return lines;
    }
  }
}
