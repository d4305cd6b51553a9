package dev.holdfast.testkit.program;

import static dev.holdfast.testkit.Soon.SOON;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A folder, and the processes that were started in it; neither outlives the test. */
public final class Processes implements AutoCloseable {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final Path folder = freshFolder();
  private final List<ChildProcess> children = new ArrayList<>();

  public Path folder() {
    return folder;
  }

  /** A command of the command line, about to be run in the folder. */
  public Launch launch(String... command) {
    return new Launch(folder, children::add).arguments(command);
  }

  /** Open to others: PostgreSQL does not run as root, and root's server is somebody else. */
  public static Path freshFolder() {
    try {
      return Files.setPosixFilePermissions(
          Files.createTempDirectory("holdfast-scenario-"),
          PosixFilePermissions.fromString("rwxr-xr-x"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** For a test that has failed: what the processes had to say. */
  public void printOutput() {
    for (ChildProcess child : children) {
      List<String> lines = child.lines();
      System.out.println("---- output of process " + child.pid());
      lines.subList(Math.max(0, lines.size() - 60), lines.size()).forEach(System.out::println);
    }
  }

  /** Kills all of them. */
  public void end() {
    children.forEach(ChildProcess::close);
  }

  /** What all of them have printed, at most their latest lines. */
  public List<String> lines() {
    return children.stream().flatMap(child -> child.lines().stream()).toList();
  }

  @Override
  public void close() {
    end();
    delete(folder);
  }

  public static void delete(Path folder) {
    // A server that was killed may be about to write its last file.
    long end = System.nanoTime() + SOON.toNanos();
    while (!deleted(folder)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException(folder + " cannot be deleted");
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private static boolean deleted(Path folder) {
    try (Stream<Path> walk = Files.walk(folder)) {
      for (Path entry : walk.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(entry);
      }
      return true;
    } catch (DirectoryNotEmptyException | NoSuchFileException | UncheckedIOException e) {
      return !Files.exists(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
