package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Servers that were made once and are copied by every process that needs one: to make a server and
 * its schema takes longer than most of the tests that use it.
 */
final class PreparedServers {
  private static final String PREFIX = "prepared-";
  private static final String UNFINISHED = PREFIX + "new-";
  private static final List<String> PARTS = List.of("data", "password");
  private static final Duration FORGOTTEN = Duration.ofDays(1);

  private final Path cache;
  private final Consumer<Path> maker;

  /**
   * @param maker makes a server in a folder and stops it
   */
  PreparedServers(Path cache, Consumer<Path> maker) {
    this.cache = cache;
    this.maker = maker;
  }

  /**
   * Fills an empty folder, for a server to be started in.
   *
   * @param key tells servers apart that were made from different things
   */
  void copyTo(Path folder, String key) {
    try {
      Path prepared = prepared(key);
      for (String part : PARTS) {
        // By a program: owners and modes stay as they are, and it is quick.
        copy(prepared.resolve(part), folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path prepared(String key) throws IOException {
    Path prepared = cache.resolve(PREFIX + key);
    // A file lock is for other processes, and not for other threads.
    synchronized (PreparedServers.class) {
      Files.createDirectories(cache);
      try (FileChannel lock =
          FileChannel.open(
              cache.resolve("prepared.lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE)) {
        lock.lock(); // until the channel is closed
        if (!Files.exists(prepared)) {
          removeForgotten();
          make(prepared);
        }
        Files.setLastModifiedTime(prepared, FileTime.from(Instant.now()));
      }
    }
    return prepared;
  }

  private void make(Path prepared) throws IOException {
    Path fresh =
        Files.setPosixFilePermissions(
            Files.createTempDirectory(cache, UNFINISHED),
            PosixFilePermissions.fromString("rwxr-xr-x"));
    try {
      maker.accept(fresh);
      Files.move(fresh, prepared, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      if (Files.exists(fresh)) {
        ServerFolders.delete(fresh);
      }
    }
  }

  private void removeForgotten() throws IOException {
    Instant limit = Instant.now().minus(FORGOTTEN);
    List<Path> all;
    try (Stream<Path> entries = Files.list(cache)) {
      all =
          entries
              .filter(Files::isDirectory)
              .filter(path -> path.getFileName().toString().startsWith(PREFIX))
              .toList();
    }
    for (Path old : all) {
      if (Files.getLastModifiedTime(old).toInstant().isBefore(limit)) {
        ServerFolders.delete(old);
      }
    }
  }

  private static void copy(Path from, Path to) {
    ProcessBuilder copy = new ProcessBuilder("cp", "-a", from.toString(), to.toString());
    try (ChildProcess process = ChildProcess.start(copy)) {
      if (process.awaitExit(Soon.SOON) != 0) {
        throw new IllegalStateException("cannot copy " + from + ": " + process.lines());
      }
    }
  }
}
