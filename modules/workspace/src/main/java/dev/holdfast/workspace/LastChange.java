package dev.holdfast.workspace;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * When anything in a folder last changed. By the time of the change, not of the content: a program
 * can set the latter, and those that unpack archives do.
 */
final class LastChange extends SimpleFileVisitor<Path> {
  private @Nullable FileTime latest;

  private LastChange() {}

  /** Nothing when the folder is gone, or the thread was interrupted on the way. */
  static Optional<Instant> in(Path folder) {
    LastChange seen = new LastChange();
    try {
      Files.walkFileTree(folder, seen);
    } catch (IOException goneMeanwhile) {
      // What was seen before counts.
    }
    return Optional.ofNullable(seen.latest).map(FileTime::toInstant);
  }

  @Override
  public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
    return look(folder);
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
    return look(file);
  }

  @Override
  public FileVisitResult visitFileFailed(Path file, IOException unreadable) {
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException unreadable) {
    return FileVisitResult.CONTINUE;
  }

  private FileVisitResult look(Path path) {
    try {
      FileTime changed =
          (FileTime) Files.getAttribute(path, "unix:ctime", LinkOption.NOFOLLOW_LINKS);
      if (latest == null || changed.compareTo(latest) > 0) {
        latest = changed;
      }
    } catch (IOException e) {
      return FileVisitResult.CONTINUE;
    }
    return Thread.currentThread().isInterrupted()
        ? FileVisitResult.TERMINATE
        : FileVisitResult.CONTINUE;
  }
}
