package dev.holdfast.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.embedded.EmbeddedPostgres;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A database that is not there, not ours or not safe, and a folder or port that cannot be had. */
@Timeout(60)
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class BadDatabaseTest {
  private static final String LATER_MIGRATION =
      """
      INSERT INTO holdfast.flyway_schema_history
             (installed_rank, version, description, type, script, installed_by, execution_time,
              success)
      VALUES (999, '999', 'later', 'SQL', 'V999__later.sql', 'somebody', 0, true)
      """;

  static List<WrongCommand> commands() {
    List<WrongCommand> all = new ArrayList<>();
    for (String command : List.of("migrate", "worker", "server", "enqueue echo")) {
      String[] arguments = command.split(" ", -1);
      all.add(
          new WrongCommand(
              "unreachable database: " + command,
              3,
              "cannot reach .*127.0.0.1:.*is the server running there\\?",
              (launch, world, database) ->
                  launch
                      .arguments(arguments)
                      .env("HOLDFAST_DATABASE_URL", "postgres://127.0.0.1:" + freePort() + "/x")));
      all.add(
          new WrongCommand(
              "fsync=off: " + command,
              4,
              "fsync=off.*turn fsync on",
              (launch, world, database) ->
                  launch.arguments(arguments).env("HOLDFAST_ALLOW_UNSAFE_DATABASE", "0")));
      all.add(
          new WrongCommand(
              "newer schema: " + command,
              4,
              "version 999, newer than .*: upgrade Holdfast",
              (launch, world, database) -> {
                database.sql(LATER_MIGRATION);
                return launch.arguments(arguments);
              }));
    }
    for (String command : List.of("worker", "server", "enqueue echo", "health")) {
      all.add(
          new WrongCommand(
              "missing schema: " + command,
              4,
              "no schema 'holdfast' yet: run 'holdfast migrate'",
              (launch, world, database) ->
                  launch
                      .arguments(command.split(" ", -1))
                      .env("HOLDFAST_DATABASE_URL", database.empty().url())));
    }
    all.add(
        new WrongCommand(
            "wrong password",
            4,
            "refused the login: check user and password",
            (launch, world, database) ->
                launch.arguments("worker").env("HOLDFAST_DATABASE_PASSWORD", "wrong")));
    all.add(
        new WrongCommand(
            "no such database",
            4,
            "no such database: create it",
            (launch, world, database) ->
                launch
                    .arguments("worker")
                    .env("HOLDFAST_DATABASE_URL", database.url() + "_nowhere")));
    return all;
  }

  @ParameterizedTest
  @MethodSource("commands")
  void is_refused_in_one_line(WrongCommand wrong, World world, TestDatabase database)
      throws IOException {
    wrong.isRefusedInOneLine(world, database);
  }

  @Test
  void no_database_at_all_is_said_with_what_to_start(Processes processes) {
    Launch.Answer answer = processes.launch("stats").run();
    assertThat(answer.code()).isEqualTo(3);
    assertThat(answer.err()).singleElement().asString().contains("start 'holdfast dev'");
  }

  @Test
  void dev_in_a_folder_that_cannot_be_made_says_so(Processes processes) throws IOException {
    Path file = Files.createFile(processes.folder().resolve("a file"));
    Path below = file.resolve("below it");
    assertThat(refusedDev(processes, "--folder", below.toString())).contains(below.toString());
  }

  @Test
  void dev_on_a_port_that_is_taken_says_so_and_starts_no_server(Processes processes)
      throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      assertThat(refusedDev(processes, "--port", port)).contains("port " + port);
      assertThat(EmbeddedPostgres.find(processes.folder().resolve(".holdfast"))).isEmpty();
    }
  }

  @Test
  void dev_whose_http_port_is_taken_says_so_before_it_makes_anything(Processes processes)
      throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      assertThat(refusedDev(processes, "--http-port", port))
          .contains("port " + port, "another 'holdfast dev'", "--http-port");
      assertThat(processes.folder().resolve(".holdfast")).doesNotExist();
    }
  }

  @Test
  void a_server_whose_port_is_taken_says_so(World world) throws IOException {
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

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
