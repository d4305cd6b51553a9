package dev.holdfast.process;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A log that keeps what was written last: when it is half as large as it may be, it becomes {@code
 * name.1} and starts an empty one, as it does with a file that is there when it is opened. A disk
 * that takes no more costs the log, never the job.
 */
public final class RollingFile implements AutoCloseable {
  private static final Logger log = System.getLogger(RollingFile.class.getName());

  /** What programs print is for those who run them. */
  private static final FileAttribute<?> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private final Path file;
  private final long half;
  private @Nullable OutputStream open;
  private long size;
  private boolean broken;

  public RollingFile(Path file, long most) {
    this.file = file;
    this.half = most / 2;
  }

  public synchronized void line(String text) {
    if (broken) {
      return;
    }
    byte[] bytes = (text + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      if (open == null || size + bytes.length > half) {
        roll();
      }
      if (open != null) {
        open.write(bytes);
        size += bytes.length;
      }
    } catch (IOException e) {
      broken = true;
      log.log(Level.WARNING, "{0} cannot be written: {1}", file, e.getMessage());
    }
  }

  private void roll() throws IOException {
    if (open != null) {
      open.close();
      open = null;
    }
    if (Files.exists(file)) {
      Files.move(
          file,
          file.resolveSibling(file.getFileName() + ".1"),
          StandardCopyOption.REPLACE_EXISTING);
    }
    size = 0;
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createFile(file, OWNERS_ALONE);
    }
    open = Files.newOutputStream(file);
  }

  @Override
  public synchronized void close() {
    broken = true;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException e) {
      log.log(Level.DEBUG, "a log could not be closed", e);
    }
  }
}
