package dev.holdfast.chaos.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class WorkingProcessesTest {
  @TempDir Path folder;

  @Test
  void a_process_that_works_below_the_folder_is_found_until_it_ends() throws Exception {
    Path below = Files.createDirectories(folder.resolve("a/b"));
    try (ChildProcess child =
        ChildProcess.start(new ProcessBuilder("sleep", "1000").directory(below.toFile()))) {
      assertThat(WorkingProcesses.leftIn(folder, Duration.ZERO))
          .singleElement()
          .asString()
          .startsWith("process %d: ".formatted(child.pid()))
          .endsWith("sleep 1000");
      assertThat(WorkingProcesses.leftIn(Files.createDirectory(folder.resolve("c")), Duration.ZERO))
          .isEmpty();
      child.signal("KILL");
      assertThat(WorkingProcesses.leftIn(folder, Duration.ofSeconds(60))).isEmpty();
    }
  }
}
