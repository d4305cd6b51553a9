package dev.holdfast.embedded;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Which processes serve a data folder, by what the kernel says and not by what a file claims. */
final class ServerProcesses {
  private static final Path PROC = Path.of("/proc");
  private static final Duration TIMEOUT = Duration.ofMillis(500);
  private static final Duration KILLED = Duration.ofSeconds(5);

  private ServerProcesses() {}

  /** False for a process id that is gone, a zombie, or meanwhile another program's. */
  static boolean serves(long pid, Path data) {
    Path proc = PROC.resolve(Long.toString(pid));
    if (!Files.exists(PROC.resolve("self"))) {
      return ProcessHandle.of(pid)
          .flatMap(process -> process.info().command())
          .filter(command -> command.endsWith("postgres"))
          .isPresent();
    }
    try {
      return Files.readString(proc.resolve("comm")).startsWith("postgres") && worksIn(proc, data);
    } catch (IOException e) {
      return false;
    }
  }

  // Every process of a server stays in the data folder. Those of another user do not show where
  // they are, but the first one shows how it was called.
  private static boolean worksIn(Path proc, Path data) throws IOException {
    try {
      return Files.readSymbolicLink(proc.resolve("cwd")).equals(data);
    } catch (AccessDeniedException e) {
      return Files.readString(proc.resolve("cmdline")).contains("\0" + data + "\0");
    }
  }

  static List<Long> of(Path data) {
    try (Stream<Path> entries = Files.list(PROC)) {
      return entries
          .map(entry -> entry.getFileName().toString())
          .filter(name -> name.chars().allMatch(Character::isDigit))
          .map(Long::parseLong)
          .filter(pid -> serves(pid, data))
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * Ends what is left of a server whose first process is gone. Its backends notice that by
   * themselves, unless they are busy; while one lives, no new server may start.
   */
  static void end(Path data) {
    if (Poll.until(TIMEOUT, () -> of(data).isEmpty())) {
      return;
    }
    for (long pid : of(data)) {
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
    if (!Poll.until(KILLED, () -> of(data).isEmpty())) {
      throw new EmbeddedPostgresException(
          "processes %s of an earlier server in %s do not end: end them and start again"
              .formatted(of(data), data));
    }
  }
}
