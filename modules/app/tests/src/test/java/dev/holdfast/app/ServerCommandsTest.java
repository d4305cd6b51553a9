package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The same behaviours through a server, and what is different about one. */
@OnlyWithAll
class ServerCommandsTest extends CommandsTest {
  private HoldfastServer server;
  private String admin = "";

  @BeforeEach
  void start(TestDatabase given) throws IOException {
    admin = key(Role.ADMIN, null);
    server = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Override
  String settings() {
    return through(admin);
  }

  /** Through a server, whose key it is. */
  @Override
  String asker() {
    return "test";
  }

  private String through(String key) {
    return "server: {url: '%s/', apiKey: '%s'}".formatted(server.url(), key);
  }

  /** Made on the database, as for the first user of a server. */
  private String key(Role role, @Nullable String tenant) throws IOException {
    List<String> command =
        new ArrayList<>(List.of("keys", "create", "--name", "test", "--role", role.word()));
    if (tenant != null) {
      command.addAll(List.of("--tenant", tenant));
    }
    assertThat(runWith(direct(), command.toArray(String[]::new))).isZero();
    return said().strip();
  }

  @Test
  void the_address_and_the_key_may_come_from_the_command_line() throws IOException {
    Path file = Files.writeString(folder.resolve("key"), admin + "\n");
    String url = server.url().toString();
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
  void a_key_that_is_wrong_or_not_enough_is_one_line_without_the_key() throws IOException {
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
  void a_key_of_one_tenant_hands_in_and_sees_the_jobs_of_that_tenant() throws IOException {
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
  void a_server_that_is_not_there_or_not_ours_is_said_in_a_line() throws IOException {
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
  void more_jobs_than_a_page_are_listed_and_put_back() throws IOException {
    Path lines = folder.resolve("many.ndjson");
    Files.writeString(lines, "{}\n".repeat(230));
    assertThat(run("enqueue", "fail", "@" + lines, "--each-line", "--max-attempts", "1")).isZero();
    assertThat(said().lines()).hasSize(230);
    assertThat(run("jobs", "list", "-n", "220", "--json")).isZero();
    assertThat(json()).hasSize(220);
    assertThat(run("jobs", "list", "-n", "1000", "--json")).isZero();
    assertThat(json()).hasSize(230);
  }
}
