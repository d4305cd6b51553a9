package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.JobId;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** {@code schedules}. */
class SchedulesCommandTest extends OperatorCommandFixture {
  @Test
  void a_schedule_is_run_now() throws IOException {
    run("schedules", "set", "nightly", "0 3 * * *", "report");
    assertThat(run("schedules", "run", "nightly")).isZero();
    JobId id = JobId.parse(said().strip());
    assertThat(holdfast.find(id).orElseThrow().kind()).isEqualTo("report");
    assertThat(run("schedules", "run", "nothing")).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void schedules_are_set_listed_paused_resumed_and_removed() throws IOException {
    assertThat(run("schedules", "set", "nightly", "0 3 * * *", "echo", "--zone", "Europe/Berlin"))
        .isZero();
    assertThat(said()).contains("nightly fires next at");
    assertThat(run("schedules", "list", "--json")).isZero();
    assertThat(json().get(0).get("cron").asText()).isEqualTo("0 3 * * *");
    assertThat(json().get(0).get("zone").asText()).isEqualTo("Europe/Berlin");
    assertThat(run("schedules", "pause", "nightly")).isZero();
    assertThat(run("schedules", "list")).isZero();
    assertThat(said()).contains("paused");
    assertThat(run("schedules", "resume", "nightly")).isZero();
    assertThat(run("schedules", "remove", "nightly")).isZero();
    assertThat(run("schedules", "remove", "nightly")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(run("schedules", "set", "x", "0 3 * *", "echo")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("five fields");
    assertThat(run("schedules", "set", "x", "@daily", "echo", "--zone", "Nowhere"))
        .isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_schedule_that_cannot_be_fired_is_shown_as_broken() throws IOException {
    run("schedules", "set", "nightly", "0 3 * * *", "echo");
    run("schedules", "set", "weekly", "@weekly", "echo");
    database.sql("UPDATE holdfast.schedule SET zone = 'Moon' WHERE name = 'nightly'");
    assertThat(run("schedules", "list")).isZero();
    assertThat(said().lines().filter(line -> line.contains("broken")))
        .singleElement()
        .asString()
        .contains("nightly", "broken: its time zone 'Moon' is not known here");
    assertThat(run("schedules", "list", "--json")).isZero();
    assertThat(json().get(0).get("fireError").asText()).contains("Moon");
    assertThat(json().get(1).get("fireError").isNull()).isTrue();
    assertThat(run("health", "--json")).isEqualTo(ExitCode.NOT_HEALTHY);
    assertThat(said()).contains("schedule_broken").contains("nightly");
    assertThat(run("schedules", "remove", "nightly")).isZero();
  }
}
