package dev.holdfast.chaos.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The processes that work in a folder or below it: on Linux; elsewhere none is found. */
final class WorkingProcesses {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private WorkingProcesses() {}

  /** Those that are still there after a while. */
  static List<String> leftIn(Path folder, Duration patience) throws IOException {
    Path real = folder.toRealPath();
    long end = System.nanoTime() + patience.toNanos();
    List<String> left = in(real);
    while (!left.isEmpty() && System.nanoTime() < end) {
      LockSupport.parkNanos(PAUSE.toNanos());
      left = in(real);
    }
    return left;
  }

  private static List<String> in(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(process -> worksIn(folder, process))
        .map(WorkingProcesses::describe)
        .toList();
  }

  private static boolean worksIn(Path folder, ProcessHandle process) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + process.pid() + "/cwd")).startsWith(folder);
    } catch (IOException endedOrNotLinux) {
      return false;
    }
  }

  private static String describe(ProcessHandle process) {
    return "process " + process.pid() + ": " + process.info().commandLine().orElse("");
  }
}
