package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.check.Finding;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./chaos} for a short while; with {@code ./test --release} also with every fault. */
@OnlyWithAll
class ChaosRunTest {
  @TempDir Path folder;

  private Result run(Duration faulty, long seed, List<String> only) throws Exception {
    Path json = folder.resolve("chaos.json");
    Result result =
        new ChaosRun(new Options(faulty, seed, 20_000, only, json), System.out::println).run();
    assertThat(json).isNotEmptyFile();
    return result;
  }

  private static void assertRules(Result result) {
    assertThat(result.findings()).allMatch(Finding::holds);
  }

  @Test
  void kills_freezes_and_a_crash_of_the_database_break_no_rule() throws Exception {
    List<String> faults =
        List.of("kill-worker", "kill-server", "freeze-worker", "kill-postgres", "cut");
    Result result = run(Duration.ofSeconds(15), 1, faults);
    assertRules(result);
    assertThat(result.faults().get("kill-postgres")).isPositive();
    assertThat(result.jobs()).isPositive();
  }

  @Test
  @OnlyWithRelease
  void all_faults_together_break_no_rule() throws Exception {
    Result result = run(Duration.ofMinutes(1), 2, null);
    assertRules(result);
    assertThat(result.faults().values().stream().filter(count -> count > 0)).hasSizeGreaterThan(10);
  }
}
