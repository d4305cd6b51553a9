package dev.holdfast.app.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.error.ExitCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** 'config' reports every error that would keep a process from starting, with the table. */
class ConfigCommandTest {
  private static Terminal.Answer config(Map<String, String> environment, String... more) {
    List<String> arguments = new ArrayList<>(List.of("config"));
    arguments.addAll(List.of(more));
    return Terminal.run(environment, arguments);
  }

  @Test
  void valid_settings_are_shown_without_a_message() {
    Terminal.Answer answer = config(Map.of("MAX_CONCURRENCY", "3"));
    assertThat(answer.code()).isZero();
    assertThat(answer.err()).isEmpty();
    assertThat(answer.out()).hasSizeGreaterThan((int) Settings.all().count());
  }

  @ParameterizedTest
  @CsvSource({
    "MAX_CONCURRENCY, 0, a whole number from 1 to 100000",
    "LEASE_TIMEOUT_SEC, 5, at least twice HEARTBEAT_INTERVAL_SEC",
    "HEARTBEAT_INTERVAL_SEC, NaN, a duration from 1ms to 365d",
    "HOLDFAST_WORKER_POLL_INTERVAL, 0s, a duration from 1ms to 1d",
    "SHUTDOWN_TIMEOUT_SEC, -1, SHUTDOWN_TIMEOUT_SEC",
    "HOLDFAST_WORKER_QUEUES, a b, queue 'a b' must",
    "LOAD_THRESHOLD, 80, a number from 0 to 1",
    "STEP_MAX_ATTEMPTS, 0, a whole number from 1",
    "KEEP_SCRATCH_ON_SUCCESS, maybe, true or false",
    "HOLDFAST_DATABASE_URL, mysql://x/y, postgres://",
    "HOLDFAST_DATABASE_POOL, 1, a whole number from 4 to 1000",
    "HOLDFAST_DATABASE_PORT, 70000, a whole number from 0 to 65535",
    "HOLDFAST_DATABASE_ALLOW_UNSAFE, perhaps, true or false",
    "HOLDFAST_RETENTION_FAILED, long, 'such as 250ms, 30s or 5m, is expected'",
    "MAX_ATTEMPTS, 0, a whole number from 1",
    "HOLDFAST_RETRIES_DELAY, soon, a duration from 0s",
    "HOLDFAST_RETRIES_FACTOR, 0, a number from 1 to 100",
    "HOLDFAST_RETRIES_MAX_DELAY, 1s, at least base",
    "HOLDFAST_WORKER_PROCESSES, -1, a whole number from 0 to 1000",
    "HOLDFAST_SUPERVISOR_BOOT_TIMEOUT, 0s, a duration from 10ms",
    "HOLDFAST_SUPERVISOR_STOP_TIMEOUT, -1s, a duration from 0s",
    "HOLDFAST_SUPERVISOR_HEALTH_TIMEOUT, 5s, more than HOLDFAST_SUPERVISOR_HEALTH_INTERVAL (5s)",
    "HOLDFAST_SUPERVISOR_LOG_SIZE, 0MB, a size from 1MB",
    "HOLDFAST_SERVER_PORT, 70000, a whole number from 0 to 65535",
    "HEARTBEAT_TIMEOUT_MS, 100, at least twice HEARTBEAT_INTERVAL_MS",
    "TOKEN_TTL_SECONDS, 7201, TOKEN_TTL_SECONDS",
    "HOLDFAST_SERVER_TLS_CERTIFICATE, a.pem, HOLDFAST_SERVER_TLS_KEY is missing",
    "HOLDFAST_METRICS_STATSD, localhost, host:port",
    "HOLDFAST_SERVER_URL, somewhere, a URL such as https",
    "HOLDFAST_TIMINGS_PRESET, fast, 'one of development, production, high-reliability'",
    "HOLDFAST_LOG_LEVEL, loud, 'one of error, warn, info, debug is expected'",
    "HOLDFAST_LOG_FORMAT, xml, 'one of text, json is expected'"
  })
  void settings_that_a_start_would_reject_are_rejected(
      String variable, String value, String message) {
    Terminal.Answer answer = config(Map.of(variable, value));
    assertThat(answer.code()).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(answer.out()).anyMatch(line -> line.contains(variable) && line.contains(value));
    assertThat(answer.err()).singleElement().asString().startsWith("holdfast: ").contains(message);
  }

  /** A worker and a server start with it. */
  @Test
  void settings_without_a_process_to_supervise_are_valid() {
    Map<String, String> none = Map.of("HOLDFAST_WORKER_PROCESSES", "0");
    assertThat(config(none).code()).isZero();
    assertThat(config(none).err()).isEmpty();
    assertThat(Terminal.run(none, List.of("supervise")).err())
        .singleElement()
        .asString()
        .contains("no worker to run");
  }

  @Test
  void all_errors_are_reported_at_once() {
    Terminal.Answer answer =
        config(
            Map.of(
                "MAX_CONCURRENCY", "0",
                "LEASE_TIMEOUT_SEC", "5",
                "HOLDFAST_LOG_LEVEL", "loud",
                "HOLDFAST_SERVER_PORT", "70000"),
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
                "HOLDFAST_SERVER_PUBLIC_URL", "https://ada:opensesame@jobs.example.org",
                "HOLDFAST_METRICS_STATSD", "http://ada:opensesame@x"));
    assertThat(answer.code()).isEqualTo(ExitCode.CONFIGURATION);
    assertThat(answer.err()).hasSize(3);
    assertThat(answer.out() + " " + answer.err()).doesNotContain("opensesame");
  }
}
