package dev.holdfast.worker.artifact;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;

/**
 * Folders with all that is in them, which a program may have made and may still be changing. Links
 * are never followed.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class FileTrees {
  private FileTrees() {}

  /**
   * A folder whose permissions a program has taken away is deleted, too.
   *
   * @throws DirectoryNotEmptyException when something has appeared meanwhile; all else is gone
   */
  public static void delete(Path tree) throws IOException {
    if (!deleted(tree)) {
      throw new DirectoryNotEmptyException(tree.toString());
    }
  }

  /** Deletes what it can: something that has appeared meanwhile is left for the next time. */
  static void deleteQuietly(Path tree) throws IOException {
    boolean unused = deleted(tree);
  }

  private static boolean deleted(Path path) throws IOException {
    boolean whole = true;
    try {
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        if (!Files.isWritable(path) || !Files.isReadable(path) || !Files.isExecutable(path)) {
          Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
          for (Path entry : entries) {
            whole &= deleted(entry);
          }
        }
      }
      Files.deleteIfExists(path);
      return whole;
    } catch (NoSuchFileException goneAlready) {
      return whole;
    } catch (DirectoryNotEmptyException appeared) {
      return false;
    } catch (DirectoryIteratorException unreadable) {
      throw unreadable.getCause();
    }
  }

  public static boolean isEmpty(Path folder) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return !entries.iterator().hasNext();
    }
  }

  /** What a folder holds: bytes, and the last time anything in it changed. */
  record Extent(long bytes, Instant changedAt) {}

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
