package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code enqueue}. */
class EnqueueCommandTest extends OperatorCommandFixture {
  @Test
  void enqueue_prints_the_id_of_the_stored_job() throws IOException {
    assertThat(run("enqueue", "echo", "{\"a\": 1}", "-p", "2", "--delay", "1h")).isZero();
    JobId id = JobId.parse(said().strip());
    assertThat(run("jobs", "show", id.toString(), "--json")).isZero();
    assertThat(json().get("kind").asText()).isEqualTo("echo");
    assertThat(json().get("priority").asInt()).isEqualTo(2);
    assertThat(json().get("payload").get("a").asInt()).isEqualTo(1);
    assertThat(json().get("timeline").get(0).get("type").asText()).isEqualTo("created");
  }

  @Test
  void a_payload_may_come_from_a_file_and_a_job_from_each_line() throws IOException {
    Path lines = Files.writeString(folder.resolve("p.ndjson"), "{\"n\":1}\n\n{\"n\":2}\n");
    assertThat(run("enqueue", "echo", "@" + lines, "--each-line")).isZero();
    assertThat(said().lines()).hasSize(2);
    assertThat(run("enqueue", "echo", "@" + folder.resolve("missing"))).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("cannot be read").doesNotContain("\tat ");
  }

  @Test
  void attributes_of_a_job_are_enqueued_and_shown() throws IOException {
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    String[] options = {
      "enqueue",
      "echo",
      "--asset-id",
      "orders",
      "--partition-key",
      "2026-11-17",
      "--resources",
      "{\"cpu\": 2}",
      "--traceparent",
      trace,
      "--json"
    };
    assertThat(run(options)).isZero();
    String id = json().get(0).get("id").asText();
    run("jobs", "show", id);
    assertThat(said()).contains("orders").contains("2026-11-17").contains("cpu").contains(trace);
    assertThat(run("enqueue", "echo", "--traceparent", "00-1")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("traceparent '00-1'");
    assertThat(run("enqueue", "echo", "--resources", "cpu")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("--resources is not JSON");
  }

  @Test
  void a_duplicate_unique_key_is_reported_as_existing() throws IOException {
    run("enqueue", "echo", "--unique-key", "k", "--json");
    String first = json().get(0).get("id").asText();
    assertThat(run("enqueue", "echo", "--unique-key", "k", "--json")).isZero();
    assertThat(json().get(0).get("id").asText()).isEqualTo(first);
    assertThat(json().get(0).get("duplicate").asBoolean()).isTrue();
  }

  @Test
  void a_unique_key_that_an_open_transaction_holds_is_rejected_with_a_remedy() throws Exception {
    try (Connection open = database.dataSource().getConnection()) {
      open.setAutoCommit(false);
      holdfast.enqueue(open, List.of(Job.of("echo").uniqueKey("k")));
      assertThat(run("enqueue", "echo", "--unique-key", "k")).isEqualTo(ExitCode.REFUSED);
      assertThat(complained())
          .contains("unique key 'k' of kind 'echo' is held by another open transaction")
          .contains("try again once that transaction has ended");
    }
  }

  @Test
  void a_job_may_wait_for_others() throws IOException {
    JobId first = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    run("enqueue", "echo", "--depends-on", first.toString());
    JobId cancelled = JobId.parse(said().strip());
    run("enqueue", "echo", "--depends-on", first.toString(), "--if-failed", "run");
    JobId runs = JobId.parse(said().strip());
    runExamples();
    assertThat(holdfast.find(cancelled).orElseThrow().state().name()).isEqualTo("CANCELLED");
    assertThat(holdfast.find(runs).orElseThrow().state().name()).isEqualTo("SUCCEEDED");
    assertThat(run("enqueue", "echo", "--depends-on", JobId.next().toString()))
        .isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("not there");
  }

  @Test
  void a_payload_that_is_not_json_is_refused() throws IOException {
    assertThat(run("enqueue", "echo", "{\"a\": 1}, \"queue\": \"x\"")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("enqueue", "echo", "nonsense")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained().lines()).hasSize(1);
    assertThat(run("schedules", "set", "x", "@daily", "echo", "{")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("jobs", "list", "--json")).isZero();
    assertThat(json()).isEmpty();
  }

  @Test
  void an_invalid_id_or_name_is_one_line_without_a_stack_trace() throws IOException {
    assertThat(run("jobs", "show", "1-1-1-1-1")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained().lines()).hasSize(1);
    assertThat(run("enqueue", "no spaces allowed")).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("letters, digits");
    assertThat(run("enqueue", "echo", "--priority", "10")).isEqualTo(ExitCode.REFUSED);
    assertThat(run("enqueue", "echo", "--deadline", "tomorrow")).isEqualTo(ExitCode.USAGE);
  }
}
