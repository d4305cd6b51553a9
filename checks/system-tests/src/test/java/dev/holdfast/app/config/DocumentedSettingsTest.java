package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.run.Supervision;
import dev.holdfast.model.attempt.Timings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The settings files that docs/cli.md shows. */
class DocumentedSettingsTest {
  private static final Path FOLDER =
      Path.of("src", "test", "resources", "documented").toAbsolutePath();

  private static Settings settings(String file) {
    return Settings.load(Map.of(), Map.of(), FOLDER.resolve(file));
  }

  @Test
  void the_whole_example_is_valid() {
    Path file = FOLDER.resolve("holdfast.yaml");
    Terminal.Answer answer = Terminal.run(Map.of(), List.of("config", "--config", "" + file));
    assertThat(answer.err()).isEmpty();
    assertThat(answer.code()).isZero();
    assertThat(answer.out())
        .anyMatch(line -> line.matches("database\\.pool +HOLDFAST_DATABASE_POOL +16 +.*"))
        .anyMatch(line -> line.matches("worker\\.concurrency +MAX_CONCURRENCY +20 +.*"))
        .anyMatch(line -> line.matches("backpressure\\.highWatermark +HIGH_WATERMARK +10000 +.*"))
        .anyMatch(line -> line.matches("retention\\.succeeded +\\w+ +2d +.*"))
        .anyMatch(line -> line.matches("log\\.format +HOLDFAST_LOG_FORMAT +json +.*"))
        .anyMatch(line -> line.matches("handlers\\.thumbnail +.*thumbnail\\.py.*"));

    Settings settings = settings("holdfast.yaml");
    assertThat(settings.timings())
        .isEqualTo(Timings.preset("production").withCancelGrace(Duration.ofSeconds(20)));
    assertThat(settings.programs().getFirst().artifacts()).containsExactly("thumbnail.png");
  }

  @Test
  void a_supervisor_runs_the_workers_of_the_examples_for_each_queue() {
    assertThat(Supervision.describe(settings("supervise.yaml")))
        .isEqualTo("tag: 2 processes of 4, library: 1 process of 1");
  }
}
