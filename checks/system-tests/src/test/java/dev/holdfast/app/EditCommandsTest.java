package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that are tagged, changed and deleted on the command line. */
@ExtendWith(DatabaseExtension.class)
class EditCommandsTest {
  @TempDir Path folder;
  private TestDatabase database;
  private Holdfast holdfast;
  private final PrintStream out = System.out;
  private final PrintStream err = System.err;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setOut(out);
    System.setErr(err);
    holdfast.close();
  }

  private int run(String... arguments) throws IOException {
    said.reset();
    Path file =
        Files.writeString(
            folder.resolve("holdfast.yaml"),
            "database: {url: '%s', user: '%s', password: '%s', allowUnsafe: true}"
                .formatted(database.url(), database.user(), database.password()));
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", file.toString()));
    return Main.run(all.toArray(String[]::new));
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void a_job_is_enqueued_with_tags_and_found_by_them() throws IOException {
    assertThat(run("enqueue", "echo", "-t", "customer:42", "--tag", "vip")).isZero();
    String id = said().strip();
    holdfast.enqueue(Job.of("echo"));
    assertThat(run("jobs", "show", id)).isZero();
    assertThat(said()).contains("tags          customer:42 vip");
    assertThat(run("jobs", "list", "--tag", "vip", "--json")).isZero();
    assertThat(said()).containsOnlyOnce("\"kind\"").contains(id, "\"customer:42\"");
    assertThat(run("jobs", "list", "--search", "tag:vip")).isZero();
    assertThat(said()).contains(id);
    assertThat(run("jobs", "cancel", "--tag", "vip")).isZero();
    assertThat(said()).contains("1 job cancelled");
    assertThat(run("enqueue", "echo", "--tag", "two words")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void a_job_that_waits_is_changed() throws IOException {
    JobId id = holdfast.enqueue(Job.of("echo").delay(Duration.ofHours(1))).id();
    assertThat(run("jobs", "edit", id.toString(), "-p", "0", "--delay", "0s", "--payload", "[1]"))
        .isZero();
    assertThat(said()).contains("changed; it is PENDING");
    JobStatus job = holdfast.find(id).orElseThrow();
    assertThat(job.priority()).isZero();
    assertThat(job.runAt()).isBefore(Instant.now().plusSeconds(60));
    assertThat(job.payload().text()).isEqualTo("[1]");
    assertThat(run("jobs", "edit", id.toString(), "--run-at", "2090-01-01T00:00:00Z", "--json"))
        .isZero();
    assertThat(holdfast.find(id).orElseThrow().runAt()).isEqualTo("2090-01-01T00:00:00Z");
    assertThat(run("jobs", "edit", id.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "edit", JobId.next().toString(), "-p", "1"))
        .isEqualTo(ExitCode.NOT_FOUND);
    holdfast.cancel(id, "enough");
    assertThat(run("jobs", "edit", id.toString(), "-p", "1")).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("has already ended, CANCELLED");
  }

  @Test
  void jobs_are_deleted_unless_they_run() throws IOException {
    JobId pending = holdfast.enqueue(Job.of("echo").queue("other")).id();
    JobId running = holdfast.enqueue(Job.of("echo")).id();
    holdfast.jobs().claim(new ClaimRequest("default", 1, "somebody", Duration.ofMinutes(5)));
    assertThat(run("jobs", "delete", pending.toString(), running.toString()))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("deleted; it was PENDING", "refused: it runs");
    assertThat(holdfast.find(pending)).isEmpty();
    assertThat(run("jobs", "delete", pending.toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void a_schedule_may_be_an_interval_or_have_seconds() throws IOException {
    assertThat(run("schedules", "set", "often", "@every 30s", "echo")).isZero();
    assertThat(run("schedules", "set", "month-end", "30 0 18 L * ?", "echo")).isZero();
    assertThat(run("schedules", "list")).isZero();
    assertThat(said()).contains("@every 30s", "30 0 18 L * ?");
  }
}
