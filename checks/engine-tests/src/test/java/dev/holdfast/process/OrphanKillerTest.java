package dev.holdfast.process;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testkit.Living;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrphanKillerTest {
  @TempDir Path folder;

  @Test
  void programs_of_a_killed_java_process_are_killed_even_outside_their_process_group()
      throws Exception {
    Process parent =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                StartsAndWaits.class.getName(),
                folder.toString(),
                "trap '' TERM HUP; echo $$ >> pids; env -i sleep 1000 & echo $! >> pids;"
                    + " (env -i setsid sh -c 'echo $$ >> pids; exec sleep 1000' &);"
                    + " (env -i setsid prlimit --locks=7: sh -c 'echo $$ >> pids; exec sleep 1000' &);"
                    + " (setsid sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.1; done' &);"
                    + " while :; do sleep 0.1; done")
            .inheritIO()
            .start();
    Path pids = folder.resolve("pids");
    await().atMost(SOON).until(() -> Files.exists(pids) && Files.readAllLines(pids).size() == 5);
    List<Long> started = Files.readAllLines(pids).stream().map(Long::valueOf).toList();
    parent.destroyForcibly();
    assertThat(parent.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    await().atMost(SOON).until(() -> started.stream().noneMatch(Living::is));
  }
}
