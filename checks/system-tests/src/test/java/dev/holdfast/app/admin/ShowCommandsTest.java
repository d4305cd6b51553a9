package dev.holdfast.app.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.app.Main;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The history of a queue and the last jobs of a schedule, on the database and through a server. */
@ExtendWith(DatabaseExtension.class)
class ShowCommandsTest {
  @TempDir Path folder;
  private TestDatabase database;
  private Holdfast holdfast;
  private HoldfastServer server;
  private final PrintStream out = System.out;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    server = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setOut(out);
    server.close();
    holdfast.close();
  }

  private String direct() {
    return "database: {url: '%s', user: '%s', password: '%s', allowUnsafe: true}"
        .formatted(database.url(), database.user(), database.password());
  }

  private int run(String settings, String... arguments) throws IOException {
    said.reset();
    Path file = Files.writeString(folder.resolve("holdfast.yaml"), settings);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", file.toString()));
    return Main.run(all.toArray(String[]::new));
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  private JsonNode json() throws IOException {
    return Wire.answer(said().getBytes(StandardCharsets.UTF_8), JsonNode.class);
  }

  @Test
  void a_queue_is_shown_with_its_history() throws IOException {
    holdfast.enqueue(Job.of("welcome").queue("mail"));
    JobId done = holdfast.enqueue(Job.of("receipt").queue("mail")).id();
    database.sql(
        "UPDATE holdfast.job SET state = 'SUCCEEDED', started_at = run_at + interval '20 ms',"
            + " finished_at = run_at + interval '2 s', created_at = created_at - interval '3 s' WHERE id = ?",
        done.value());
    for (String settings : List.of(direct(), "server: {url: '%s/'}".formatted(server.url()))) {
      assertThat(run(settings, "queues", "show", "mail", "--over", "15m", "--points")).isZero();
      assertThat(said())
          .contains("mail: 1 due, ", "history is known since ", "WAIT P50", "DUE")
          .containsPattern("receipt +1 +1 +0 +0 +2[01] ms +2[01] ms +2[01] ms +[12]\\.\\d s ")
          .containsPattern("welcome +1 +0 +0 +0")
          .containsPattern("all +2 +1 +0 +0")
          .containsPattern("Z +\\? +\\? +\\? ");
      assertThat(run(settings, "queues", "show", "mail", "--kind", "welcome", "--json")).isZero();
      assertThat(json().at("/queue/due").asInt()).isEqualTo(1);
      assertThat(json().at("/history/total/enqueued").asInt()).isEqualTo(1);
      assertThat(json().at("/history/stepMs").asInt()).isEqualTo(60_000);
      assertThat(run(settings, "queues", "show", "mial")).isEqualTo(ExitCode.NOT_FOUND);
      assertThat(run(settings, "queues", "show", "mail", "--over", "8d")).isEqualTo(ExitCode.USAGE);
    }
  }

  @Test
  void a_schedule_is_shown_with_its_next_times_and_last_jobs() throws IOException {
    assertThat(run(direct(), "schedules", "set", "nightly", "0 3 * * *", "report")).isZero();
    assertThat(run(direct(), "schedules", "show", "nightly")).isZero();
    assertThat(said()).contains("nightly: 0 3 * * * in UTC, kind report", "no jobs yet");
    assertThat(said().lines().filter(line -> line.endsWith("T03:00:00Z"))).hasSize(5);
    assertThat(run(direct(), "schedules", "run", "nightly")).isZero();
    JobId job = JobId.parse(said().strip());
    for (String settings : List.of(direct(), "server: {url: '%s/'}".formatted(server.url()))) {
      assertThat(run(settings, "schedules", "show", "nightly")).isZero();
      assertThat(said()).contains("last jobs:").containsPattern(job + " +PENDING");
      assertThat(run(settings, "schedules", "show", "nightly", "--json")).isZero();
      assertThat(json().at("/lastRuns/0/id").asText()).isEqualTo(job.toString());
      assertThat(run(settings, "schedules", "list")).isZero();
      assertThat(said()).contains("LAST JOB", "PENDING");
    }
    assertThat(run(direct(), "schedules", "show", "weekly")).isEqualTo(ExitCode.NOT_FOUND);
  }
}
