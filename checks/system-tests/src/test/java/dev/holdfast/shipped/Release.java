package dev.holdfast.shipped;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What {@code ./release} makes of this checkout; made once for all tests of this process. */
final class Release {
  static final Path CHECKOUT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Duration BUILD = Duration.ofMinutes(30);

  private static Path made;

  private Release() {}

  /**
   * The folder with the archives, all of them that this machine has the tools for. Whoever works on
   * these tests names one that is there already, {@code RELEASE=… ./test --release}.
   */
  static synchronized Path folder() {
    String given = System.getenv().getOrDefault("RELEASE", "");
    if (!given.isEmpty()) {
      made = Path.of(given);
    }
    if (made == null) {
      boolean image = has("mmdebstrap") && has("umoci") && isRoot();
      made = build(TARGET.resolve("release"), "tar,runtime,deb,central" + (image ? ",image" : ""));
    }
    return made;
  }

  static Path build(Path output, String parts) {
    run(CHECKOUT, "./release", "--rehearse", "--only", parts, "--output", output.toString());
    return output;
  }

  /** The archive whose name ends so. */
  static Path archive(String end) {
    try (Stream<Path> files = Files.list(folder())) {
      return files
          .filter(file -> file.getFileName().toString().matches("holdfast.[0-9.]+" + end))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no archive " + end));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An empty folder with what the archive has in it. */
  static Path unpacked(String name, Path archive) throws IOException {
    Path folder = TARGET.resolve("unpacked-" + name);
    FreshClone.delete(folder);
    Files.createDirectories(folder);
    run(folder, "tar", "-xzf", archive.toString(), "--strip-components=1");
    return folder;
  }

  /** What it prints, once it has ended well. */
  static List<String> run(Path folder, String... command) {
    return run(folder, List.of(command));
  }

  static List<String> run(Path folder, List<String> command) {
    ProcessBuilder builder = new ProcessBuilder(new ArrayList<>(command));
    builder.directory(folder.toFile());
    NewUser.environment(builder.environment());
    try (ChildProcess child = ChildProcess.start(builder)) {
      assertThat(child.awaitExit(BUILD))
          .as("%s: %s", command, String.join("\n", child.lines()))
          .isZero();
      return child.lines();
    }
  }

  static boolean has(String program) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }
}
