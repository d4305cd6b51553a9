package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What the server wrote about itself into postmaster.pid. */
record Postmaster(long pid, int port, String status) {
  // The lines of the file, by number; the status comes last.
  private static final int PID = 0;
  private static final int PORT = 3;
  private static final int STATUS = 7;

  static Path file(Path data) {
    return data.resolve("postmaster.pid");
  }

  /** Empty too while the server is still writing it. */
  static Optional<Postmaster> read(Path data) throws IOException {
    try {
      List<String> lines = Files.readAllLines(file(data));
      if (lines.size() <= STATUS) {
        return Optional.empty();
      }
      return Optional.of(
          new Postmaster(
              Long.parseLong(lines.get(PID).strip()),
              Integer.parseInt(lines.get(PORT).strip()),
              lines.get(STATUS).strip()));
    } catch (NoSuchFileException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** Only one that is really there: the file outlives a server that was killed. */
  static Optional<Postmaster> live(Path data) throws IOException {
    return read(data).filter(postmaster -> ServerProcesses.serves(postmaster.pid(), data));
  }

  boolean isReady() {
    return status.equals("ready");
  }

  boolean isStopping() {
    return status.equals("stopping");
  }
}
