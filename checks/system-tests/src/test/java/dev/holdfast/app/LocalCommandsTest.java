package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Commands that never use a server. */
class LocalCommandsTest extends CommandFixture {
  @Test
  void config_shows_each_value_and_its_origin_but_no_password() throws IOException {
    assertThat(runWith(direct(), "config", "--json")).isZero();
    assertThat(json().get("worker.concurrency").get("origin").asText()).isEqualTo("default");
    assertThat(json().get("database.user").get("origin").asText()).contains("holdfast.yaml");
    assertThat(json().get("database.password").get("value").asText()).isEqualTo("***");
    assertThat(runWith(direct(), "config")).isZero();
    assertThat(said()).contains("HEARTBEAT_INTERVAL_SEC").doesNotContain(database.password());
  }

  @Test
  void migrate_reports_that_there_is_nothing_to_do() throws IOException {
    assertThat(runWith(direct(), "migrate")).isZero();
    assertThat(said()).contains("up to date");
  }

  @Test
  void the_completion_script_is_accepted_by_a_shell() throws Exception {
    said.reset();
    assertThat(Main.run("completion")).isZero();
    Path script = Files.writeString(folder.resolve("completion.sh"), said());
    assertThat(new ProcessBuilder("bash", "-n", script.toString()).start().waitFor()).isZero();
    assertThat(said()).contains("enqueue").contains("--concurrency-key");
    assertThat(said()).contains("hard_reset_step").contains("--step");
  }
}
