package dev.holdfast.chaos.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.ChaosRun;
import dev.holdfast.chaos.Options;
import dev.holdfast.chaos.Result;
import dev.holdfast.chaos.check.Finding;
import dev.holdfast.testkit.OnlyWithRelease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code ./chaos --soak} for a moment: too short to say what grows, or was only slow to start. */
@OnlyWithRelease
class SoakRunTest {
  private static final int SECONDS = 20;
  private static final int PER_SECOND = 10;
  private static final int BATCH = 50;

  @Test
  void a_soak_is_no_faster_than_asked_and_reports_what_processes_need() throws Exception {
    Options options =
        new Options(
            Duration.ofSeconds(SECONDS),
            1,
            Integer.MAX_VALUE,
            PER_SECOND,
            null,
            null,
            Options.PER_MINUTE,
            0,
            true);
    List<String> lines = new ArrayList<>();
    long start = System.nanoTime();
    Result result = new ChaosRun(options, lines::add).run();
    long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();

    assertThat(result.jobs()).isBetween((long) BATCH, seconds * PER_SECOND + BATCH);
    assertThat(result.faults()).isEmpty();
    assertThat(result.findings())
        .filteredOn(finding -> !finding.rule().matches(".* not grow|no process was started again"))
        .allMatch(Finding::holds);
    assertThat(lines)
        .anyMatch(line -> line.matches("server.* MB resident, .* threads, .* open files"))
        .anyMatch(line -> line.matches(".*worker.* MB resident, .* threads, .* open files"))
        .anyMatch(line -> line.matches("connections to PostgreSQL +\\d+ and \\d+"));
  }
}
