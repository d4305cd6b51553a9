package dev.holdfast.testkit;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.embedded.FolderInUseException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Temporary folders for servers, and the folder where the unpacked binaries stay. */
final class ServerFolders {
  private static final String PREFIX = "holdfast-test-";
  private static final Duration ABANDONED = Duration.ofMinutes(30);

  private ServerFolders() {}

  // The server of root may run under another account, which cannot enter root's home.
  static Path cache() {
    Path home = Path.of(System.getProperty("user.home"));
    return System.getProperty("user.name").equals("root")
        ? Path.of("/var/cache/holdfast")
        : home.resolve(".cache").resolve("holdfast");
  }

  static Path fresh() {
    try {
      removeAbandoned();
      return Files.setPosixFilePermissions(
          Files.createTempDirectory(PREFIX), PosixFilePermissions.fromString("rwxr-xr-x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path temporary() {
    return Path.of(System.getProperty("java.io.tmpdir"));
  }

  // A test JVM that was killed leaves its server running.
  private static void removeAbandoned() throws IOException {
    Instant limit = Instant.now().minus(ABANDONED);
    List<Path> folders;
    try (Stream<Path> entries = Files.list(temporary())) {
      folders = entries.filter(path -> path.getFileName().toString().startsWith(PREFIX)).toList();
    }
    for (Path folder : folders) {
      if (Files.isWritable(folder)
          && Files.getLastModifiedTime(folder).toInstant().isBefore(limit)) {
        removeUnlessHeld(folder);
      }
    }
  }

  private static void removeUnlessHeld(Path folder) throws IOException {
    try {
      if (EmbeddedPostgres.find(folder).isPresent()) {
        EmbeddedPostgres.start(TestServer.options(folder)).kill();
      }
      delete(folder);
    } catch (FolderInUseException e) {
      // A long test run, not an abandoned one.
    }
  }

  static void delete(Path folder) throws IOException {
    List<Path> entries;
    try (Stream<Path> walk = Files.walk(folder)) {
      entries = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path entry : entries) {
      Files.deleteIfExists(entry);
    }
  }
}
