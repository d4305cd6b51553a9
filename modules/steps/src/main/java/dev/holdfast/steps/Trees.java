package dev.holdfast.steps;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Folders with all that is in them. */
final class Trees {
  private Trees() {}

  /** Links are removed, not followed; a folder that may not be written is made writable first. */
  static void delete(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      if (!Files.isWritable(path) || !Files.isReadable(path) || !Files.isExecutable(path)) {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
      }
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
        for (Path entry : entries) {
          delete(entry);
        }
      }
    }
    Files.deleteIfExists(path);
  }

  static boolean isEmpty(Path folder) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      return !entries.iterator().hasNext();
    }
  }
}
