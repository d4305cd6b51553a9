package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class EnvironmentBlockTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Hides its secrets, tells what it knows itself, and waits. */
  static final class Worker {
    private Worker() {}

    public static void main(String[] arguments) throws IOException {
      EnvironmentBlock.hideSecrets();
      ProcessBuilder inherits =
          new ProcessBuilder("/bin/sh", "-c", "echo child $A_KEY").inheritIO();
      System.out.println("environment has " + inherits.environment().get("A_KEY"));
      inherits.start().onExit().join();
      System.out.println("knows " + System.getenv("A_KEY"));
      int unused = System.in.read();
    }
  }

  @Test
  void other_processes_do_not_see_the_secrets_and_the_process_still_knows_them() throws Exception {
    ProcessBuilder builder = ChildProcess.javaCommand(Worker.class.getName(), List.of());
    builder.environment().put("A_KEY", "correct-horse");
    builder.environment().put("LC_TEST", "visible");
    try (ChildProcess worker = ChildProcess.start(builder)) {
      worker.awaitLine("knows correct-horse", LIMIT);
      worker.awaitLine("child correct-horse", LIMIT);
      assertThat(Files.readString(Path.of("/proc/" + worker.pid() + "/environ")))
          .doesNotContain("correct-horse")
          .contains("A_KEY=", "LC_TEST=visible", "PATH=" + System.getenv("PATH"));
    }
  }
}
