package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.Holdfast;
import dev.holdfast.app.demo.ExampleKinds;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.handler.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs commands in this process. They use the database of the test or, after {@link #startServer},
 * a server on it.
 */
@ExtendWith(DatabaseExtension.class)
abstract class CommandFixture {
  static final ObjectMapper MAPPER = new ObjectMapper();
  @TempDir Path folder;
  TestDatabase database;
  Holdfast holdfast;
  final PrintStream out = System.out;
  final PrintStream err = System.err;
  final ByteArrayOutputStream said = new ByteArrayOutputStream();
  final ByteArrayOutputStream complained = new ByteArrayOutputStream();

  private @Nullable HoldfastServer server;
  private String admin = "";

  @BeforeEach
  void open(TestDatabase given) {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setOut(out);
    System.setErr(err);
    if (server != null) {
      server.close();
    }
    holdfast.close();
  }

  /** From now on, commands use a server. */
  final void startServer() throws IOException {
    admin = key(Role.ADMIN, null);
    server = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
  }

  final URI serverUrl() {
    return Objects.requireNonNull(server).url();
  }

  /** The settings file of the commands. */
  final String settings() {
    return server == null ? direct() : through(admin);
  }

  final String through(String key) {
    return "server: {url: '%s/', apiKey: '%s'}".formatted(serverUrl(), key);
  }

  /** Created on the database, as for the first user of a server. */
  final String key(Role role, @Nullable String tenant) throws IOException {
    List<String> command =
        new ArrayList<>(List.of("keys", "create", "--name", "test", "--role", role.word()));
    if (tenant != null) {
      command.addAll(List.of("--tenant", tenant));
    }
    assertThat(runWith(direct(), command.toArray(String[]::new))).isZero();
    return said().strip();
  }

  final String direct() {
    return "database: {url: '%s', user: '%s', password: '%s', allowUnsafe: true}"
        .formatted(database.url(), database.user(), database.password());
  }

  int run(String... arguments) throws IOException {
    return runWith(settings(), arguments);
  }

  int runWith(String settings, String... arguments) throws IOException {
    said.reset();
    complained.reset();
    Path file = Files.writeString(folder.resolve("holdfast.yaml"), settings);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--config", file.toString()));
    return Main.run(all.toArray(String[]::new));
  }

  String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  String complained() {
    return complained.toString(StandardCharsets.UTF_8);
  }

  JsonNode json() throws IOException {
    return MAPPER.readTree(said());
  }

  void runExamples() {
    holdfast
        .worker("default")
        .handle(
            ExampleKinds.all().stream()
                .map(kind -> (Kind<?>) kind.retry(RetryPolicy.NONE))
                .toList())
        .drain();
  }

  Lease running() {
    JobId job = holdfast.enqueue(Job.of("build")).id();
    holdfast.jobs().claim(new ClaimRequest("default", 1, "w1", Duration.ofMinutes(5)));
    return new Lease(job, 1);
  }

  void step(Lease lease, int index, StepState state) {
    Json checkpoint = new Json("{\"changedFiles\": [\"a\", \"b\"]}");
    boolean done = state == StepState.DONE;
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Step(
                    lease,
                    "s" + index,
                    index,
                    state,
                    1,
                    false,
                    done ? checkpoint : null,
                    done ? Patch.of(new byte[1_200]) : null,
                    null,
                    null,
                    List.of())));
  }

  /** The name under which commands are recorded: the user's, or that of the API key. */
  final String requester() {
    return server == null ? System.getProperty("user.name", "") : "test";
  }
}
