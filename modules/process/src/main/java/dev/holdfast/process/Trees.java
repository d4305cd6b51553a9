package dev.holdfast.process;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Folders with all that is in them, which a program may have made and may still be changing. */
public final class Trees {
  private Trees() {}

  /**
   * Links are removed, not followed; a folder that a program has locked is still ours.
   *
   * @throws DirectoryNotEmptyException when something has appeared meanwhile; all else is gone
   */
  public static void delete(Path tree) throws IOException {
    if (!deleted(tree)) {
      throw new DirectoryNotEmptyException(tree.toString());
    }
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
}
