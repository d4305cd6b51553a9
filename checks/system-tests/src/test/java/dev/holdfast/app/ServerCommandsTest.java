package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands through a server: its address, the API key, and the key's role and tenant. */
class ServerCommandsTest extends CommandFixture {
  @BeforeEach
  void start(TestDatabase given) throws IOException {
    startServer();
  }

  @Test
  void the_address_and_the_key_may_come_from_the_command_line() throws IOException {
    Path file = Files.writeString(folder.resolve("key"), key(Role.ADMIN, null) + "\n");
    String url = serverUrl().toString();
    assertThat(runWith("", "stats", "--server", url, "--api-key-file", file.toString())).isZero();
    assertThat(runWith("", "stats", "--server", url)).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(complained()).contains("HOLDFAST_SERVER_API_KEY").contains("--api-key-file");
    assertThat(complained().lines()).hasSize(1);
    assertThat(runWith("", "stats", "--server", url, "--api-key-file", file + "x"))
        .isEqualTo(ExitCode.CONFIGURATION);
    assertThat(runWith("", "stats", "--server", url, "--database", "postgres://x/y"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(runWith("", "stats", "--server", "ftp://x")).isEqualTo(ExitCode.CONFIGURATION);
  }

  @Test
  void an_invalid_or_insufficient_key_is_one_line_without_the_key() throws IOException {
    String wrong = "hf_0123456789ab_nobodys-secret";
    assertThat(runWith(through(wrong), "stats")).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(complained()).contains("does not accept").doesNotContain("nobodys-secret");
    String viewer = key(Role.VIEWER, null);
    assertThat(runWith(through(viewer), "stats")).isZero();
    assertThat(runWith(through(viewer), "enqueue", "echo")).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(complained()).contains("viewer may not submit");
    assertThat(runWith(through("two words"), "stats")).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(complained()).doesNotContain("two words");
  }

  @Test
  void a_key_of_one_tenant_enqueues_and_sees_the_jobs_of_that_tenant() throws IOException {
    JobId other = holdfast.enqueue(Job.of("echo")).id();
    String acme = through(key(Role.OPERATOR, "acme"));
    assertThat(runWith(acme, "enqueue", "echo")).isZero();
    JobId own = JobId.parse(said().strip());
    assertThat(holdfast.find(own).orElseThrow().tenant()).isEqualTo("acme");
    assertThat(runWith(acme, "jobs", "list", "--json")).isZero();
    assertThat(json()).hasSize(1);
    assertThat(runWith(acme, "jobs", "show", other.toString())).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(runWith(acme, "jobs", "cancel", other.toString())).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(runWith(acme, "queues", "pause", "default")).isEqualTo(ExitCode.CONFIGURATION);
  }

  @Test
  void an_unreachable_or_foreign_server_is_reported_in_one_line() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    assertThat(runWith("", "stats", "--server", "http://127.0.0.1:" + port))
        .isEqualTo(ExitCode.DATABASE_AWAY);
    assertThat(complained())
        .contains("the server at http://127.0.0.1:%d does not answer".formatted(port))
        .contains("is it running there?");
    assertThat(complained().lines()).hasSize(1);
    assertThat(runWith("", "health", "--server", "http://127.0.0.1:" + port))
        .isEqualTo(ExitCode.DATABASE_AWAY);
  }

  @Test
  void more_jobs_than_a_page_are_listed_and_retried() throws IOException {
    Path lines = folder.resolve("many.ndjson");
    Files.writeString(lines, "{}\n".repeat(230));
    assertThat(run("enqueue", "fail", "@" + lines, "--each-line", "--max-attempts", "1")).isZero();
    assertThat(said().lines()).hasSize(230);
    assertThat(run("jobs", "list", "-n", "220", "--json")).isZero();
    assertThat(json()).hasSize(220);
    assertThat(run("jobs", "list", "-n", "1000", "--json")).isZero();
    assertThat(json()).hasSize(230);
    // Many of them are of the same millisecond.
    assertThat(run("jobs", "list", "--oldest-first", "-n", "100", "--json")).isZero();
    String last = json().get(99).get("id").asText();
    assertThat(run("jobs", "list", "--oldest-first", "-n", "1000", "--after", last, "--json"))
        .isZero();
    assertThat(json()).hasSize(130);
    assertThat(run("jobs", "list", "-n", "1000", "--after", last, "--json")).isZero();
    assertThat(json()).hasSize(130);
  }
}
