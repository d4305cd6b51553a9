package dev.holdfast.app;

import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A database that is unreachable, not a Holdfast database, or not durable. */
@ExtendWith(DatabaseExtension.class)
class BadDatabaseTest {
  private static final String LATER_MIGRATION =
      "INSERT INTO holdfast.schema_version (version) VALUES (999)";

  static List<WrongCommand> commands() {
    List<WrongCommand> all = new ArrayList<>();
    for (String command : List.of("migrate", "worker", "server", "enqueue echo")) {
      String[] arguments = command.split(" ", -1);
      all.add(
          new WrongCommand(
              "unreachable database: " + command,
              3,
              "cannot reach .*127.0.0.1:.*is the server running there\\?",
              (launch, database) ->
                  launch
                      .arguments(arguments)
                      .env("HOLDFAST_DATABASE_URL", "postgres://127.0.0.1:" + freePort() + "/x")));
      all.add(
          new WrongCommand(
              "fsync=off: " + command,
              4,
              "fsync=off.*turn fsync on",
              (launch, database) ->
                  launch.arguments(arguments).env("HOLDFAST_DATABASE_ALLOW_UNSAFE", "0")));
      all.add(
          new WrongCommand(
              "newer schema: " + command,
              4,
              "version 999 and needs .* 998 or newer; .*: upgrade Holdfast",
              (launch, database) -> {
                database.sql(LATER_MIGRATION);
                database.sql("UPDATE holdfast.schema_compatibility SET oldest_version = 998");
                launch.arguments(arguments);
              }));
    }
    for (String command : List.of("worker", "server", "enqueue echo", "health")) {
      all.add(
          new WrongCommand(
              "missing schema: " + command,
              4,
              "no schema 'holdfast' yet: run 'holdfast migrate --database postgresql://",
              (launch, database) ->
                  launch
                      .arguments(command.split(" ", -1))
                      .env("HOLDFAST_DATABASE_URL", database.empty().url())));
    }
    all.add(
        new WrongCommand(
            "wrong password",
            4,
            "refused the login: check user and password",
            (launch, database) ->
                launch.arguments("worker").env("HOLDFAST_DATABASE_PASSWORD", "wrong")));
    all.add(
        new WrongCommand(
            "no password",
            4,
            "refused the login: set HOLDFAST_DATABASE_PASSWORD, .*PGPASSWORD is not read",
            (launch, database) ->
                launch
                    .arguments("worker")
                    .env("HOLDFAST_DATABASE_PASSWORD", "")
                    .env("PGPASSWORD", database.password())));
    for (String command : List.of("worker", "server", "enqueue echo")) {
      all.add(
          new WrongCommand(
              "a session that is read-only: " + command,
              4,
              "the session is read-only, .*default_transaction_read_only",
              (launch, database) -> {
                database.sql(
                    "ALTER DATABASE %s SET default_transaction_read_only = on"
                        .formatted(database.name()));
                launch.arguments(command.split(" ", -1));
              }));
    }
    all.add(
        new WrongCommand(
            "no such database",
            4,
            "no such database: create it",
            (launch, database) ->
                launch
                    .arguments("worker")
                    .env("HOLDFAST_DATABASE_URL", database.url() + "_nowhere")));
    return all;
  }

  @ParameterizedTest
  @MethodSource("commands")
  void an_unusable_database_is_reported_in_one_line(
      WrongCommand wrong, @TempDir Path folder, TestDatabase database) throws IOException {
    wrong.isRefusedInOneLine(folder, database);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
