package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Processes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code holdfast demo}: a play whose end is known. */
@ExtendWith(WorldExtension.class)
class DemoTest {
  private static final Duration PLAY = Duration.ofMinutes(3);

  @Test
  void everything_breaks_and_nothing_is_lost(Processes processes) {
    Path folder = processes.folder().resolve(".holdfast");
    ChildProcess demo =
        processes
            .launch("demo")
            .property("holdfast.cache", String.valueOf(TestServer.options(folder).cache()))
            .begin();
    assertThat(demo.awaitExit(PLAY)).isZero();
    List<String> lines = demo.lines();
    assertThat(lines)
        .anyMatch(line -> line.contains("!! kill -9 of worker:demo:0"))
        .anyMatch(line -> line.contains("its worker is gone; it is back in the queue"))
        .anyMatch(line -> line.contains("endless     has stopped, as it was asked to"))
        .anyMatch(line -> line.contains("toxic       is given up: TOXIC_JOB"))
        .anyMatch(line -> line.contains("0 lost, 0 done twice"))
        .anyMatch(line -> line.contains("the page ends with them, and the jobs are kept"))
        .last()
        .asString()
        .startsWith("next")
        .contains("./holdfast dev");
    // Its server is gone by now, so nothing leads there.
    assertThat(lines).noneMatch(line -> line.contains("/#/jobs/"));
    if (lines.stream().anyMatch(line -> line.contains("an agent that edits a repository"))) {
      assertThat(lines)
          .anyMatch(line -> line.contains("agent       a step is stuck; it is tried again"))
          .anyMatch(line -> line.contains("agent       the same failure again"));
    }
    assertThat(processes.folder().resolve(".holdfast"))
        .isDirectoryNotContaining(path -> path.getFileName().toString().startsWith("demo-"));
  }
}
