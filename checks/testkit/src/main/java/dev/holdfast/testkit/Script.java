package dev.holdfast.testkit;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;

/**
 * Programs that tests write. What this process has written itself may be busy when it is to be run:
 * a child that another thread starts at that time holds the open file for a moment.
 */
public final class Script {
  private Script() {}

  /** An executable file, written by a process of its own. */
  public static Path write(Path file, String text) throws IOException {
    Process shell =
        new ProcessBuilder("sh", "-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh", file.toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (Writer in = shell.outputWriter()) {
      in.write(text);
    }
    if (shell.onExit().join().exitValue() != 0) {
      throw new IOException("cannot write " + file);
    }
    return file;
  }
}
