package dev.holdfast.app;

import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(DatabaseExtension.class)
class BadSettingTest {
  static Stream<WrongCommand> commands() {
    return Stream.of(
        file("worker:\n  concurency: 3\n", "worker.concurency.*did you mean 'worker.concurrency'"),
        file(
            "worker: [1, 2\n",
            "holdfast.yaml cannot be used: line 2, column 1: expected ',' or ']'"),
        file("worker:\n\tqueues: a\n", "line 2, column 1: found character .*TAB"),
        file("log: {level: info}\nlog: {format: json}\n", "line 2.*Duplicate field 'log'"),
        file("worker:\n  concurrency: several\n", "'several' .*holdfast.yaml: a whole number"),
        file("handlers: [a]\n", "handlers must hold an entry for each name"),
        file("handlers: {x: {comand: [a]}}\n", "handlers.x.comand is unknown: it may hold command"),
        file("handlers: {x: {artifacts: [a]}}\n", "handlers.x.command is missing: a list"),
        file("handlers: {x: {command: echo hi}}\n", "handlers.x.command must be a list, such as"),
        file("handlers: {'x y': {command: [echo]}}\n", "handlers.x y: kind 'x y' must have"),
        file("handlers: {x: {command: [echo], artifacts: [../a]}}\n", "artifact name '../a' must"),
        file(
            "handlers: {x: {command: [echo], retry: {delay: soon}}}\n",
            "retry: 'soon' is no duration"),
        file("handlers: {x: {command: [echo], strict: very}}\n", "strict must be true or false"),
        WrongCommand.of(10, "nowhere.yaml .*no such file", "worker", "--config", "nowhere.yaml"),
        variable("HOLDFAST_FOLDR", "x", "did you mean 'HOLDFAST_FOLDER'"),
        variable("HOLDFAST_DATABASE_URL", "mysql://x/y", "postgres://user"),
        variable("HOLDFAST_DATABASE_POOL", "1", "a whole number from 4 to 1000"),
        variable(
            "HOLDFAST_RETENTION_FAILED", "long", "a duration from 0s to 36500d, such as 250ms"),
        variable("HOLDFAST_WORKER_QUEUES", "a b", "queue 'a b' must have"),
        variable(
            "HOLDFAST_TIMINGS_PRESET",
            "fast",
            "'fast' .*: one of development, production, high-reliability"),
        variable("HEARTBEAT_INTERVAL_SEC", "soon", "'soon' .*: a duration from 1ms to 365d"),
        variable(
            "HEARTBEAT_INTERVAL_SEC",
            "-1",
            "\\(HEARTBEAT_INTERVAL_SEC\\) is '-1s' .*: a duration from 1ms"),
        variable("LEASE_TIMEOUT_SEC", "11", "at least twice HEARTBEAT_INTERVAL_SEC"),
        variable("LOAD_THRESHOLD", "80", "\\(LOAD_THRESHOLD\\) is '80' .*: a number from 0 to 1"),
        variable(
            "MAX_CONCURRENCY", "many", "'many' .*: a whole number from 1 to 100000 is expected"),
        variable(
            "MAX_CONCURRENCY",
            "0",
            "\\(MAX_CONCURRENCY\\) is '0' .*: a whole number from 1 to 100000"),
        ofServer(
            "HOLDFAST_SERVER_HOST",
            "0.0.0.0",
            "no API keys: create one with 'holdfast keys create"),
        ofServer("HOLDFAST_SERVER_HOST", "192.0.2.1", "192.0.2.1"),
        ofServer("HEARTBEAT_TIMEOUT_MS", "100", "at least twice HEARTBEAT_INTERVAL_MS"),
        ofServer(
            "TOKEN_TTL_SECONDS",
            "7201",
            "\\(TOKEN_TTL_SECONDS\\) is '7201s' .*: a duration from 1s to 2h"),
        ofServer("HOLDFAST_SERVER_TLS_CERTIFICATE", "a.pem", "HOLDFAST_SERVER_TLS_KEY is missing"),
        new WrongCommand(
            "TLS files that are not there",
            10,
            "TLS: cannot read .* from nowhere.pem",
            (launch, database) ->
                launch
                    .arguments("server")
                    .env("HOLDFAST_SERVER_TLS_CERTIFICATE", "nowhere.pem")
                    .env("HOLDFAST_SERVER_TLS_KEY", "nowhere.pem")),
        WrongCommand.of(
            3,
            "server at http://127.0.0.1:1 does not answer",
            "jobs",
            "list",
            "--server",
            "http://127.0.0.1:1"),
        WrongCommand.of(
            3,
            "server at http://127.0.0.1:1 does not answer",
            "worker",
            "--examples",
            "--server",
            "http://127.0.0.1:1"),
        WrongCommand.of(10, "a URL such as https", "jobs", "list", "--server", "somewhere"),
        WrongCommand.of(
            10,
            "nowhere.key cannot be read",
            "enqueue",
            "echo",
            "--server",
            "http://127.0.0.1:1",
            "--api-key-file",
            "nowhere.key"));
  }

  private static WrongCommand ofServer(String name, String value, String message) {
    return new WrongCommand(
        "server with " + name + "=" + value,
        10,
        message,
        (launch, database) -> launch.arguments("server").env(name, value));
  }

  private static WrongCommand variable(String name, String value, String message) {
    return new WrongCommand(
        name + "=" + value,
        10,
        message,
        (launch, database) -> launch.arguments("worker", "--examples").env(name, value));
  }

  private static WrongCommand file(String text, String message) {
    return new WrongCommand(
        "a file with " + text.strip().replaceAll("\n *", " "),
        10,
        message,
        (launch, database) -> {
          Path file = launch.file("holdfast.yaml", text);
          launch.arguments("worker", "--config", file.toString());
        });
  }

  @ParameterizedTest
  @MethodSource("commands")
  void an_invalid_setting_is_rejected_in_one_line(
      WrongCommand wrong, @TempDir Path folder, TestDatabase database) throws IOException {
    wrong.isRefusedInOneLine(folder, database);
  }
}
