package dev.holdfast.worker.artifact;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** A link, a folder, a pipe or a device where a file was expected. */
final class NotRegularFileException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  NotRegularFileException(Path file) {
    super(file.toString(), null, "not a regular file");
  }
}
