package dev.holdfast.app.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.config.Setting;
import dev.holdfast.app.error.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What would keep a process from starting is told by 'config', all of it and with the table. */
class ConfigCommandTest {
  private static Terminal.Answer config(Map<String, String> environment, String... more) {
    List<String> arguments = new ArrayList<>(List.of("config"));
    arguments.addAll(List.of(more));
    return Terminal.run(environment, arguments);
  }

  @Test
  void settings_without_fault_are_shown_and_nothing_is_said() {
    Terminal.Answer answer = config(Map.of("MAX_CONCURRENCY", "3"));
    assertThat(answer.code()).isZero();
    assertThat(answer.err()).isEmpty();
    assertThat(answer.out()).hasSizeGreaterThan(Setting.values().length);
  }

  @ParameterizedTest
  @CsvSource({
    "MAX_CONCURRENCY, 0, MAX_CONCURRENCY is 0",
    "LEASE_TIMEOUT_SEC, 5, at least twice HEARTBEAT_INTERVAL_SEC",
    "HEARTBEAT_INTERVAL_SEC, NaN, a number is expected",
    "HOLDFAST_POLL_INTERVAL_MS, 0, polling interval",
    "SHUTDOWN_TIMEOUT_SEC, -1, SHUTDOWN_TIMEOUT_SEC",
    "HOLDFAST_QUEUES, a b, queue 'a b' must",
    "LOAD_THRESHOLD, 80, LOAD_THRESHOLD is 80",
    "STEP_MAX_ATTEMPTS, 0, step_max_attempts must be 1 or more",
    "KEEP_SCRATCH_ON_SUCCESS, maybe, true or false",
    "HOLDFAST_DATABASE_URL, mysql://x/y, postgres://",
    "HOLDFAST_DATABASE_POOL, 1, a whole number from 4 to 1000",
    "HOLDFAST_DATABASE_PORT, 70000, a whole number from 0 to 65535",
    "HOLDFAST_ALLOW_UNSAFE_DATABASE, perhaps, true or false",
    "HOLDFAST_RETAIN_FAILED, long, a duration such as",
    "MAX_ATTEMPTS, 0, a whole number from 1",
    "HOLDFAST_RETRY_DELAY, soon, a duration such as",
    "HOLDFAST_RETRY_FACTOR, 0, must lie between 1 and 100",
    "HOLDFAST_RETRY_LONGEST, 1s, at least base",
    "HOLDFAST_WORKER_PROCESSES, -1, a whole number from 0 to 1000",
    "HOLDFAST_BOOT_TIMEOUT_SEC, 0, HOLDFAST_BOOT_TIMEOUT_SEC",
    "HOLDFAST_STOP_TIMEOUT_SEC, -1, HOLDFAST_STOP_TIMEOUT_SEC",
    "HOLDFAST_HEALTH_TIMEOUT_SEC, 5, more than HOLDFAST_HEALTH_INTERVAL_SEC (5.0)",
    "HOLDFAST_LOG_MEGABYTES, 0, HOLDFAST_LOG_MEGABYTES",
    "HOLDFAST_PORT, 70000, a whole number from 0 to 65535",
    "HEARTBEAT_TIMEOUT_MS, 100, at least twice HEARTBEAT_INTERVAL_MS",
    "TOKEN_TTL_SECONDS, 7201, TOKEN_TTL_SECONDS",
    "HOLDFAST_TLS_CERT, a.pem, HOLDFAST_TLS_KEY is missing",
    "HOLDFAST_STATSD, localhost, host:port",
    "HOLDFAST_SERVER_URL, somewhere, a URL such as https",
    "HOLDFAST_LOG_LEVEL, loud, 'one of error, warn, info, debug is expected'",
    "HOLDFAST_LOG_FORMAT, xml, 'one of text, json is expected'"
  })
  void what_a_start_would_refuse_is_refused_here(String variable, String value, String message) {
    Terminal.Answer answer = config(Map.of(variable, value));
    assertThat(answer.code()).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(answer.out()).anyMatch(line -> line.contains(variable) && line.contains(value));
    assertThat(answer.err()).singleElement().asString().startsWith("holdfast: ").contains(message);
  }

  /** A worker and a server start with it. */
  @Test
  void no_process_to_supervise_is_no_fault_of_the_settings() {
    Map<String, String> none = Map.of("HOLDFAST_WORKER_PROCESSES", "0");
    assertThat(config(none).code()).isZero();
    assertThat(config(none).err()).isEmpty();
    assertThat(Terminal.run(none, List.of("supervise")).err())
        .singleElement()
        .asString()
        .contains("there is no worker to run");
  }

  @Test
  void all_that_is_wrong_is_told_at_once() {
    Terminal.Answer answer =
        config(
            Map.of(
                "MAX_CONCURRENCY", "0",
                "LEASE_TIMEOUT_SEC", "5",
                "HOLDFAST_LOG_LEVEL", "loud",
                "HOLDFAST_PORT", "70000"),
            "--json");
    assertThat(answer.code()).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(answer.out().getFirst()).startsWith("{");
    assertThat(answer.err()).hasSize(4).allMatch(line -> line.startsWith("holdfast: "));
  }

  @Test
  void a_password_in_a_url_is_shown_nowhere() {
    Terminal.Answer answer =
        config(
            Map.of(
                "HOLDFAST_DATABASE_URL", "mysql://ada:opensesame@db/x",
                "HOLDFAST_PUBLIC_URL", "https://ada:opensesame@jobs.example.org",
                "HOLDFAST_STATSD", "http://ada:opensesame@x"));
    assertThat(answer.code()).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(answer.err()).hasSize(3);
    assertThat(answer.out() + " " + answer.err()).doesNotContain("opensesame");
  }
}
