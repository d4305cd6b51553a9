package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process has, by Linux.
 *
 * @param residentMb its resident memory
 * @param files files and sockets that are open
 */
public record ProcessUse(long residentMb, long threads, long files) {
  /** Fails when there is no such process. */
  public static ProcessUse of(long pid) throws IOException {
    List<String> status = Files.readAllLines(Path.of("/proc/" + pid + "/status"));
    try (Stream<Path> open = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      return new ProcessUse(
          number(status, "VmRSS:") / 1024, number(status, "Threads:"), open.count());
    } catch (UncheckedIOException ended) {
      throw ended.getCause();
    }
  }

  private static long number(List<String> status, String name) {
    return status.stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .findFirst()
        .orElse(0);
  }
}
