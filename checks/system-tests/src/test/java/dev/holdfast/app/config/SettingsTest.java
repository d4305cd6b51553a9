package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.setting.Setting;
import dev.holdfast.app.setting.SettingValues;
import dev.holdfast.model.attempt.Timings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {
  @TempDir Path folder;

  private static Settings with(Map<String, String> environment) {
    return Settings.load(Map.of(), environment, null);
  }

  private Settings file(String yaml) throws IOException {
    Path file = Files.writeString(folder.resolve("holdfast.yaml"), yaml);
    return Settings.load(Map.of(), Map.of(), file);
  }

  @Test
  void options_override_the_environment_and_the_environment_the_file() throws IOException {
    Path file =
        Files.writeString(folder.resolve("h.yaml"), "worker: {concurrency: 3, queues: [a, b]}");
    Map<String, String> environment = Map.of("MAX_CONCURRENCY", "4");

    Settings fromFile = Settings.load(Map.of(), Map.of(), file);
    assertThat(fromFile.get("worker.concurrency", Integer.class)).isEqualTo(3);
    assertThat(fromFile.servedQueues()).containsExactly("a", "b");
    assertThat(fromFile.value("worker.queues").origin()).isEqualTo(file.toString());

    Settings fromEnvironment = Settings.load(Map.of(), environment, file);
    assertThat(fromEnvironment.get("worker.concurrency", Integer.class)).isEqualTo(4);
    assertThat(fromEnvironment.value("worker.concurrency").origin()).isEqualTo("environment");

    Settings fromOption = Settings.load(Map.of("worker.concurrency", "5"), environment, file);
    assertThat(fromOption.get("worker.concurrency", Integer.class)).isEqualTo(5);
    assertThat(fromOption.value("worker.concurrency").origin()).isEqualTo("option");
  }

  @Test
  void an_unknown_key_in_the_file_is_rejected_with_the_nearest_known_one() {
    assertThatThrownBy(() -> file("worker: {concurency: 3}"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("'worker.concurency' is unknown")
        .hasMessageContaining("did you mean 'worker.concurrency'?");
  }

  @Test
  void an_unknown_variable_with_our_prefix_is_rejected_and_others_are_ignored() {
    assertThatThrownBy(() -> with(Map.of("HOLDFAST_WORKER_QUEUE", "mail")))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("did you mean 'HOLDFAST_WORKER_QUEUES'?");
    assertThat(with(Map.of("PATH", "/bin")).servedQueues()).containsExactly("default");
  }

  @Test
  void a_file_that_is_not_yaml_is_reported_with_the_line() {
    assertThatThrownBy(() -> file("worker:\n  queues: [a\n"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("cannot be used: line");
  }

  @Test
  void an_invalid_value_is_reported_with_its_origin_and_the_valid_form() {
    assertThatThrownBy(() -> with(Map.of("MAX_CONCURRENCY", "many")).worker())
        .isInstanceOf(CommandException.class)
        .hasMessage(
            "worker.concurrency (MAX_CONCURRENCY) is 'many' by environment: a whole number from 1 to 100000 is expected");
  }

  @Test
  void timings_come_from_the_heartbeat_the_preset_or_both() {
    assertThat(with(Map.of()).timings()).isEqualTo(Timings.DEFAULT);
    assertThat(with(Map.of("HEARTBEAT_INTERVAL_SEC", "2")).timings().lease())
        .isEqualTo(Duration.ofSeconds(6));
    Settings preset = with(Map.of("HOLDFAST_TIMINGS_PRESET", "production"));
    assertThat(preset.timings()).isEqualTo(Timings.preset("production"));
    assertThat(preset.value("timings.leaseTimeout"))
        .isEqualTo(new SettingValues.Value("5m", "preset production"));
    assertThat(
            with(Map.of("HOLDFAST_TIMINGS_PRESET", "production", "LEASE_TIMEOUT_SEC", "100"))
                .timings()
                .lease())
        .isEqualTo(Duration.ofSeconds(100));
  }

  @ParameterizedTest
  @CsvSource({
    "HOLDFAST_TIMINGS_PRESET, fast",
    "LEASE_TIMEOUT_SEC, 11",
    "HEARTBEAT_INTERVAL_SEC, 0",
    "LOAD_THRESHOLD, 2",
    "HIGH_WATERMARK, -1"
  })
  void a_value_that_the_worker_rejects_is_an_invalid_setting(String variable, String value) {
    assertThatThrownBy(() -> with(Map.of(variable, value)).checkWorker())
        .isInstanceOf(CommandException.class)
        .satisfies(
            thrown ->
                assertThat(((CommandException) thrown).exitCode())
                    .isEqualTo(ExitCode.CONFIGURATION));
  }

  @Test
  void a_variable_follows_from_the_key_unless_the_requirements_name_it() {
    assertThat(Settings.variable("server.publicUrl")).isEqualTo("HOLDFAST_SERVER_PUBLIC_URL");
    assertThat(Settings.variable("folder")).isEqualTo("HOLDFAST_FOLDER");
    assertThat(
            Settings.all()
                .map(Setting::variable)
                .filter(variable -> !variable.startsWith("HOLDFAST_")))
        .containsExactlyInAnyOrder(
            "MAX_CONCURRENCY",
            "SHUTDOWN_TIMEOUT_SEC",
            "HEARTBEAT_INTERVAL_SEC",
            "LEASE_TIMEOUT_SEC",
            "CANCEL_GRACE_SEC",
            "HIGH_WATERMARK",
            "LOAD_THRESHOLD",
            "PAUSE_INTERVAL_SEC",
            "KEEP_SCRATCH_ON_SUCCESS",
            "MAX_ATTEMPTS",
            "STEP_MAX_ATTEMPTS",
            "STEP_TIMEOUT_SECONDS",
            "STEP_IDLE_TIMEOUT_SECONDS",
            "STEP_NO_PROGRESS_LIMIT",
            "JOB_SELF_HEAL_MAX_RESETS",
            "HEARTBEAT_INTERVAL_MS",
            "HEARTBEAT_TIMEOUT_MS",
            "CANCEL_GRACE_PERIOD_MS",
            "TOKEN_TTL_SECONDS");
  }

  @Test
  void keys_and_variables_name_no_unit_unless_the_requirements_do() {
    assertThat(Settings.all().map(Setting::key))
        .noneMatch(key -> key.matches(".*(Ms|Sec|Seconds|Minutes|Bytes|Megabytes)"));
    assertThat(Settings.all().filter(setting -> setting.unit() != null))
        .allMatch(setting -> setting.variable().matches(".*_(MS|SEC|SECONDS)"));
  }

  @ParameterizedTest
  @CsvSource({
    "HEARTBEAT_INTERVAL_SEC, 2, 2s",
    "HEARTBEAT_INTERVAL_SEC, 0.5, 0.5s",
    "HEARTBEAT_INTERVAL_SEC, 750ms, 750ms",
    "STEP_TIMEOUT_SECONDS, 60, 60s"
  })
  void a_bare_number_has_the_unit_that_the_variable_names(
      String variable, String text, String shown) {
    Settings settings = with(Map.of(variable, text));
    assertThat(settings.shown())
        .filteredOn(setting -> setting.variable().equals(variable))
        .singleElement()
        .satisfies(setting -> assertThat(setting.value()).isEqualTo(shown));
    assertThat(settings.problems()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "timings: {heartbeatInterval: 10} | a duration from 1ms to 365d",
        "worker: {pollInterval: 2 seconds} | a duration from 1ms to 1d",
        "supervisor: {logSize: 20} | a size from 1MB to ",
        "supervisor: {logSize: 20 megabytes} | a size from 1MB to ",
        "workspace: {patchSize: 65MB} | a size from 1MB to 64MB, such as 10MB, is expected"
      })
  void a_duration_and_a_size_in_the_file_need_their_unit(String yaml, String message)
      throws IOException {
    assertThat(file(yaml).problems()).singleElement().asString().contains(message);
  }

  @Test
  void a_size_is_read_with_its_unit() throws IOException {
    assertThat(file("supervisor: {logSize: 3MB}").supervisor().logSize()).isEqualTo(3 << 20);
    assertThat(file("supervisor: {logSize: 2048kB}").supervisor().logSize()).isEqualTo(2 << 20);
    assertThat(file("supervisor: {logSize: 1GB}").supervisor().logSize()).isEqualTo(1 << 30);
  }

  @Test
  void variables_of_the_conformance_kit_and_of_programs_are_no_settings() {
    Map<String, String> others = Map.of("HOLDFAST_PROGRAM", "/opt/holdfast", "HOLDFAST_JOB", "x");
    assertThat(with(others).worker()).isEqualTo(with(Map.of()).worker());
  }

  @Test
  void a_variable_without_its_section_is_rejected_with_the_full_name() {
    assertThatThrownBy(() -> with(Map.of("HOLDFAST_PUBLIC_URL", "https://x")))
        .hasMessage(
            "setting 'HOLDFAST_PUBLIC_URL' is unknown: did you mean"
                + " 'HOLDFAST_SERVER_PUBLIC_URL'?");
    assertThatThrownBy(() -> with(Map.of("HOLDFAST_PORT", "1")))
        .hasMessageEndingWith("did you mean 'HOLDFAST_DATABASE_PORT' or 'HOLDFAST_SERVER_PORT'?");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "wrker: {} | setting 'wrker' is unknown",
        "database: {schema: jobs} | the schema is always called 'holdfast'",
        "wrker: {queues: [a]} | setting 'wrker.queues' is unknown: did you mean 'worker.queues'?",
        "timings: production | is no setting but holds some: timings.preset",
        "worker: {queues: {a: 1}} | setting 'worker.queues.a' is unknown"
      })
  void an_invalid_section_is_rejected(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }
}
