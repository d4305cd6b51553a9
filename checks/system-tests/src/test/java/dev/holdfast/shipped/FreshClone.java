package dev.holdfast.shipped;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Extent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The files that a fresh clone of this checkout would have, and nothing else. Work that is not
 * committed yet is part of it. With {@code ./test --all} it is built there by its own launcher;
 * otherwise the launcher finds the program that this build has made.
 */
final class FreshClone {
  private static final Path CHECKOUT = Path.of("../..").toAbsolutePath().normalize();
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final String APP = "modules/app/target";
  private static final Path FOLDER = TARGET.resolve("clone");
  // Downloads included, on a machine that has more to do.
  private static final Duration BUILD = Duration.ofMinutes(30);

  private static boolean made;

  private FreshClone() {}

  /** Its root, with the program built; made once for all tests, and again when a source changed. */
  static synchronized Path built() {
    try {
      Files.createDirectories(TARGET);
      // Another fork of the same run may be at it.
      try (FileChannel channel =
              FileChannel.open(
                  TARGET.resolve("clone.lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        assertThat(lock.isValid()).isTrue();
        if (!made) {
          make(digests(sources()));
          made = true;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return FOLDER;
  }

  private static List<String> sources() {
    try (ChildProcess git =
        ChildProcess.command(
            "git",
            "-C",
            CHECKOUT.toString(),
            "-c",
            "core.quotePath=false",
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard")) {
      assertThat(git.awaitExit(BUILD)).as("%s", git.lines()).isZero();
      // What was deleted and not committed is still listed.
      return git.lines().stream()
          .distinct()
          .filter(name -> Files.exists(CHECKOUT.resolve(name), LinkOption.NOFOLLOW_LINKS))
          .toList();
    }
  }

  private static Map<String, String> digests(List<String> names) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (String name : names) {
      Path file = CHECKOUT.resolve(name);
      all.put(name, Files.isExecutable(file) + " " + digest(Files.readAllBytes(file)));
    }
    assertThat(all).containsKeys("holdfast", "README.md", "pom.xml");
    return all;
  }

  private static String digest(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static void make(Map<String, String> sources) throws IOException {
    Path list = TARGET.resolve("clone.sources");
    Map<String, String> before = read(list);
    if (!Extent.isAll() || !program(before).equals(program(sources))) {
      Files.deleteIfExists(list);
      delete(FOLDER);
      before = Map.of();
    }
    // Documents and libraries are no part of the program: a change of them needs no other build.
    for (Map.Entry<String, String> source : sources.entrySet()) {
      if (!source.getValue().equals(before.get(source.getKey()))) {
        Path copy = FOLDER.resolve(source.getKey());
        Files.createDirectories(copy.getParent());
        Files.copy(
            CHECKOUT.resolve(source.getKey()),
            copy,
            StandardCopyOption.REPLACE_EXISTING,
            StandardCopyOption.COPY_ATTRIBUTES,
            LinkOption.NOFOLLOW_LINKS);
      }
    }
    for (String name : before.keySet()) {
      if (!sources.containsKey(name)) {
        Files.deleteIfExists(FOLDER.resolve(name));
      }
    }
    if (!Extent.isAll()) {
      install(); // and no list: the next run with --all builds
      return;
    }
    build();
    StringBuilder text = new StringBuilder();
    sources.forEach((name, digest) -> text.append(digest).append(' ').append(name).append('\n'));
    Files.writeString(list, text);
  }

  private static Map<String, String> program(Map<String, String> sources) {
    Map<String, String> rest = new TreeMap<>(sources);
    rest.keySet().removeIf(FreshClone::isNoProgram);
    return rest;
  }

  private static boolean isNoProgram(String name) {
    return name.endsWith(".md")
        || name.startsWith("checks/") && !name.startsWith("checks/testkit/")
        || name.startsWith("deploy/")
        || name.startsWith("sdk/");
  }

  private static Map<String, String> read(Path list) throws IOException {
    Map<String, String> all = new TreeMap<>();
    try {
      for (String line : Files.readAllLines(list, StandardCharsets.UTF_8)) {
        String[] parts = line.split(" ", 3);
        all.put(parts[2], parts[0] + " " + parts[1]);
      }
    } catch (NoSuchFileException none) {
      return Map.of();
    }
    return all;
  }

  /** Whichever command comes first builds; this one does nothing else. */
  private static void build() {
    ProcessBuilder builder = new ProcessBuilder("./holdfast", "--version");
    builder.directory(FOLDER.toFile());
    NewUser.environment(builder.environment());
    try (ChildProcess launcher = ChildProcess.start(builder)) {
      assertThat(launcher.awaitExit(BUILD))
          .as("the launcher builds: %s", String.join("\n", launcher.lines()))
          .isZero();
    }
  }

  /** As a build leaves it; without the cache that makes programs start sooner. */
  private static void install() throws IOException {
    Path built = CHECKOUT.resolve(APP).resolve("program");
    Path app = FOLDER.resolve(APP);
    try (Stream<Path> walk = Files.walk(built)) {
      for (Path from : walk.toList()) {
        Path to = app.resolve("installed").resolve(built.relativize(from).toString());
        if (Files.isDirectory(from)) {
          Files.createDirectories(to);
        } else {
          Files.copy(from, to);
        }
      }
    }
    Files.createFile(app.resolve("holdfast.built"));
  }

  static void delete(Path folder) throws IOException {
    if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> walk = Files.walk(folder)) {
      for (Path entry : walk.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
    }
  }
}
