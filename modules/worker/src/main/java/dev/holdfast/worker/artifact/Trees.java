package dev.holdfast.worker.artifact;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;

/** Whole folders, which somebody else may be changing meanwhile. Links are never followed. */
final class Trees {
  private Trees() {}

  /** What a folder holds: bytes, and the last time anything in it changed. */
  record Extent(long bytes, Instant changedAt) {}

  static void delete(Path tree) throws IOException {
    try {
      dev.holdfast.process.Trees.delete(tree);
    } catch (DirectoryNotEmptyException appeared) {
      // Left for the next time.
    }
  }

  static Extent extent(Path tree) throws IOException {
    long[] bytes = {0};
    FileTime[] latest = {FileTime.fromMillis(0)};
    Files.walkFileTree(
        tree,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return seen(attributes);
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
            return seen(attributes);
          }

          private FileVisitResult seen(BasicFileAttributes attributes) {
            if (attributes.lastModifiedTime().compareTo(latest[0]) > 0) {
              latest[0] = attributes.lastModifiedTime();
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException unreadable) {
            return FileVisitResult.CONTINUE;
          }
        });
    return new Extent(bytes[0], latest[0].toInstant());
  }
}
