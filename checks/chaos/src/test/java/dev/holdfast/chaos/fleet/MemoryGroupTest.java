package dev.holdfast.chaos.fleet;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Soon;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryGroupTest {
  /** Takes eight megabytes for each line that it reads. */
  private static final String GREEDY =
      "import sys\ntaken = []\nprint('ready', flush=True)\n"
          + "for line in sys.stdin: taken.append(b'x' * (8 << 20)); print('took', flush=True)";

  @Test
  void a_process_that_takes_more_than_the_group_may_have_is_killed_and_one_that_left_is_not()
      throws Exception {
    assumeThat(MemoryGroup.isPossible()).isTrue();
    Path folder;
    try (MemoryGroup group = requireNonNull(MemoryGroup.create());
        ChildProcess doomed = greedy();
        ChildProcess spared = greedy()) {
      group.limit(32 << 20);
      group.add(doomed.pid());
      take(doomed);
      doomed.awaitLine("took", Soon.SOON);
      assertThat(group.kills()).isZero();
      group.limit(0);
      take(doomed);
      assertThat(doomed.awaitExit(Soon.SOON)).isEqualTo(137);
      assertThat(group.kills()).isEqualTo(1);

      group.limit(0);
      group.add(spared.pid());
      group.empty();
      take(spared);
      spared.awaitLine("took", Soon.SOON);
      assertThat(group.kills()).isEqualTo(1);
      folder = group.folder();
    }
    assertThat(folder).doesNotExist();
  }

  private static ChildProcess greedy() {
    ChildProcess child = ChildProcess.start(new ProcessBuilder(List.of("python3", "-c", GREEDY)));
    child.awaitLine("ready", Soon.SOON);
    return child;
  }

  private static void take(ChildProcess process) {
    process.send("");
  }
}
