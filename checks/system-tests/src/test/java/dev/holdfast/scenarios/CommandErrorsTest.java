package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestServer;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Commands that cannot be carried out, as processes: each exit code once, and errors of folders and
 * ports.
 */
@OnlyWithAll
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class CommandErrorsTest {
  /** A command, a variable it finds in its environment, and how it ends. */
  record Refused(int code, String message, Map<String, String> environment, List<String> command) {
    static Refused of(int code, String message, String... command) {
      return new Refused(code, message, Map.of(), List.of(command));
    }

    Refused with(String variable, String value) {
      return new Refused(code, message, Map.of(variable, value), command);
    }
  }

  static Stream<Refused> commands() {
    return Stream.of(
        Refused.of(2, "'soon' is no duration", "enqueue", "echo", "--delay", "soon"),
        Refused.of(3, "is the server running there", "worker")
            .with("HOLDFAST_DATABASE_URL", "postgres://127.0.0.1:1/x"),
        Refused.of(4, "fsync=off", "server").with("HOLDFAST_DATABASE_ALLOW_UNSAFE", "0"),
        Refused.of(5, "no job", "jobs", "show", "01890000-0000-7000-8000-000000000000"),
        Refused.of(6, "not JSON", "enqueue", "echo", "{not json"),
        Refused.of(10, "MAX_CONCURRENCY) is '0'", "worker", "--examples")
            .with("MAX_CONCURRENCY", "0"),
        Refused.of(10, "no API keys", "server").with("HOLDFAST_SERVER_HOST", "0.0.0.0"));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void an_invalid_command_is_rejected_in_one_line(Refused refused, World world) {
    Launch launch = world.launch(refused.command().toArray(String[]::new));
    // The server of these tests runs with fsync=off, which has to be allowed.
    launch.env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1");
    refused.environment().forEach(launch::env);
    isRefused(launch.run(), refused.code(), refused.message());
    assertThat(world.folder().resolve(".holdfast")).doesNotExist();
  }

  @Test
  @OnlyWithRelease
  void a_file_of_settings_is_found_where_the_command_runs(World world) throws IOException {
    Files.writeString(world.folder().resolve("holdfast.yaml"), "worker: {concurency: 3}");
    isRefused(world.launch("worker").run(), 10, "did you mean 'worker.concurrency'");
  }

  private static void isRefused(Launch.Answer answer, int code, String message) {
    assertThat(answer.err()).singleElement().asString().startsWith("holdfast: ").contains(message);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(answer.out()).isEmpty();
  }

  @Test
  void an_unknown_command_is_answered_with_a_suggestion_and_the_help(Processes processes) {
    Launch.Answer answer = processes.launch("enque").run();
    assertThat(answer.code()).isEqualTo(2);
    assertThat(answer.err().getFirst())
        .isEqualTo("holdfast: unknown command 'enque': did you mean 'enqueue'?");
    assertThat(answer.err().getLast()).startsWith("Try 'holdfast").contains("--help");
    assertThat(answer.out()).isEmpty();
  }

  @Test
  void an_unreachable_database_is_reported_with_the_command_that_starts_one(Processes processes) {
    Launch.Answer answer = processes.launch("stats").run();
    assertThat(answer.code()).isEqualTo(3);
    assertThat(answer.err()).singleElement().asString().contains("start 'holdfast dev'");
  }

  @Test
  @OnlyWithRelease
  void dev_reports_a_folder_that_cannot_be_created(Processes processes) throws IOException {
    Path file = Files.createFile(processes.folder().resolve("a file"));
    Path below = file.resolve("below it");
    assertThat(refusedDev(processes, "--folder", below.toString())).contains(below.toString());
  }

  @Test
  @OnlyWithRelease
  void dev_reports_a_database_port_in_use_and_starts_no_server(Processes processes)
      throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      assertThat(refusedDev(processes, "--port", port)).contains("port " + port);
      assertThat(EmbeddedPostgres.find(processes.folder().resolve(".holdfast"))).isEmpty();
    }
  }

  @Test
  @OnlyWithRelease
  void dev_reports_an_http_port_in_use_before_it_creates_anything(Processes processes)
      throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      assertThat(refusedDev(processes, "--http-port", port))
          .contains("port " + port, "another 'holdfast dev'", "--http-port");
      assertThat(processes.folder().resolve(".holdfast")).doesNotExist();
    }
  }

  @Test
  void a_server_reports_a_port_in_use(World world) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      Launch.Answer answer = world.launch("server", "--port", port).run();
      assertThat(answer.code()).isEqualTo(7);
      assertThat(answer.err()).singleElement().asString().contains("port " + port, "--port");
    }
  }

  private static String refusedDev(Processes processes, String... options) {
    Path folder = processes.folder();
    Launch.Answer answer =
        processes
            .launch("dev")
            .arguments(options)
            .property("holdfast.cache", String.valueOf(TestServer.options(folder).cache()))
            .run();
    assertThat(answer.code()).isEqualTo(7);
    assertThat(answer.out()).noneMatch(line -> line.contains("ready"));
    assertThat(answer.err()).singleElement().asString().startsWith("holdfast: ").contains("choose");
    return answer.err().getFirst();
  }

  @Test
  @OnlyWithRelease
  void handlers_that_cannot_be_loaded_end_the_worker(World world) throws IOException {
    Path folder = world.folder().resolve("broken");
    Path services = Files.createDirectories(folder.resolve("META-INF").resolve("services"));
    Files.writeString(services.resolve("dev.holdfast.KindProvider"), "org.example.Missing\n");
    Launch.Answer answer =
        world.launch("worker").env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "1").classPath(folder).run();
    isRefused(answer, 9, "handlers could not be loaded");
    assertThat(answer.err().getFirst()).contains("org.example.Missing");
  }
}
