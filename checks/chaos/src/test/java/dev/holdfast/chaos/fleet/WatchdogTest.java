package dev.holdfast.chaos.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Soon;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class WatchdogTest {
  @Test
  void what_runs_in_its_folders_ends_with_the_pipe_and_nothing_else() throws Exception {
    Path ours = Processes.freshFolder();
    Path others = Processes.freshFolder();
    Path below = Files.createDirectories(ours.resolve("data"));
    try (ChildProcess doomed = sleeping(below);
        ChildProcess spared = sleeping(others)) {
      try (Watchdog watchdog = Watchdog.start()) {
        watchdog.watch(ours);
        assertThat(doomed.isAlive()).isTrue();
      }
      assertThat(doomed.awaitExit(Soon.SOON)).isEqualTo(137);
      assertThat(ours).doesNotExist();
      assertThat(spared.isAlive()).isTrue();
    } finally {
      Processes.delete(others);
    }
  }

  private static ChildProcess sleeping(Path folder) {
    return ChildProcess.start(new ProcessBuilder("sleep", "1000").directory(folder.toFile()));
  }
}
