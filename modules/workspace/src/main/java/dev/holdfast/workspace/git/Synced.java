package dev.holdfast.workspace.git;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Files that are there as a whole or not at all, whatever dies meanwhile. */
public final class Synced {
  private Synced() {}

  public static void write(Path file, String text) throws IOException {
    Path fresh = fresh(file);
    Files.write(fresh, text.getBytes(StandardCharsets.UTF_8));
    put(fresh, file);
  }

  public static void copy(Path from, Path file) throws IOException {
    Path fresh = fresh(file);
    Files.copy(from, fresh, StandardCopyOption.REPLACE_EXISTING);
    put(fresh, file);
  }

  public static void delete(Path file) throws IOException {
    if (Files.deleteIfExists(file)) {
      force(folder(file));
    }
  }

  private static Path fresh(Path file) throws IOException {
    Files.createDirectories(folder(file));
    return file.resolveSibling(file.getFileName() + ".new");
  }

  private static void put(Path fresh, Path file) throws IOException {
    force(fresh);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    force(folder(file));
  }

  private static Path folder(Path file) {
    return file.toAbsolutePath().resolveSibling("");
  }

  /** Not cut short by an interrupt: it is soon over, and afterwards it is known what is there. */
  private static void force(Path path) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (!isForced(path)) {
        interrupted |= Thread.interrupted();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static boolean isForced(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
      return true;
    } catch (ClosedByInterruptException cutShort) {
      return false;
    }
  }
}
