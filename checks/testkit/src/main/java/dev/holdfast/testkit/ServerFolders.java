package dev.holdfast.testkit;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.embedded.FolderInUseException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
  private static final Path DISK = Path.of(System.getProperty("java.io.tmpdir"));
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long ROOM = 2L << 30;

  private ServerFolders() {}

  // The server of root may run under another account, which cannot enter root's home.
  static Path cache() {
    Path home = Path.of(System.getProperty("user.home"));
    return System.getProperty("user.name").equals("root")
        ? Path.of("/var/cache/holdfast")
        : home.resolve(".cache").resolve("holdfast");
  }

  static Path onDisk() {
    return fresh(DISK);
  }

  /**
   * Where each test has a database of its own, a file system spends more time on its hundreds of
   * small files, made and deleted again, than the tests on what they do.
   */
  static Path inMemory() {
    return fresh(hasRoom(MEMORY) ? MEMORY : DISK);
  }

  private static boolean hasRoom(Path place) {
    try {
      return Files.isWritable(place) && Files.getFileStore(place).getUsableSpace() >= ROOM;
    } catch (IOException unreadable) {
      return false;
    }
  }

  private static Path fresh(Path place) {
    try {
      removeAbandoned(place);
      return Files.setPosixFilePermissions(
          Files.createTempDirectory(place, PREFIX), PosixFilePermissions.fromString("rwxr-xr-x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // A test JVM that was killed leaves its server running.
  private static void removeAbandoned(Path place) throws IOException {
    Instant limit = Instant.now().minus(ABANDONED);
    List<Path> folders;
    try (Stream<Path> entries = Files.list(place)) {
      folders = entries.filter(path -> path.getFileName().toString().startsWith(PREFIX)).toList();
    }
    for (Path folder : folders) {
      if (isAbandoned(folder, limit)) {
        removeUnlessHeld(folder);
      }
    }
  }

  private static boolean isAbandoned(Path folder, Instant limit) throws IOException {
    try {
      return Files.isWritable(folder)
          && Files.getLastModifiedTime(folder).toInstant().isBefore(limit);
    } catch (NoSuchFileException removed) {
      return false;
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

  /** Several processes may find the same abandoned folder, and delete it at the same time. */
  static void delete(Path folder) throws IOException {
    while (Files.exists(folder)) {
      try (Stream<Path> walk = Files.walk(folder)) {
        for (Path entry : walk.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(entry);
        }
      } catch (NoSuchFileException removed) {
        // By another process; what is left is deleted next time round.
      } catch (UncheckedIOException failed) {
        if (!(failed.getCause() instanceof NoSuchFileException)) {
          throw failed;
        }
      }
    }
  }
}
