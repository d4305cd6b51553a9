package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.app.config.file.RuntimeSettings;
import dev.holdfast.app.run.Supervision;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What holdfast.yaml says about each runtime, queue and kind. */
class SettingsFileTest {
  @TempDir Path folder;

  private static Settings with(Map<String, String> environment) {
    return Settings.load(Map.of(), environment, null);
  }

  private Settings file(String yaml) throws IOException {
    Path file = Files.writeString(folder.resolve("holdfast.yaml"), yaml);
    return Settings.load(Map.of(), Map.of(), file);
  }

  @Test
  void runtimes_get_the_variables_passed_to_them_and_their_secret_values_are_listed()
      throws IOException {
    Settings settings =
        file(
            """
            runtimes:
              agent:
                command: [./agent.sh, --quiet]
                pass: [LANG]
                secrets: [API_TOKEN, NOT_SET]
                environment: {MODE: fast}
            """);
    RuntimeSettings agent = settings.runtimes().getFirst();
    Map<String, String> variables = Map.of("LANG", "C", "API_TOKEN", "s3cret", "OTHER", "x");
    assertThat(agent.name()).isEqualTo("agent");
    assertThat(agent.toCommand(variables::get).environment())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("LANG", "C", "API_TOKEN", "s3cret", "MODE", "fast"));
    assertThat(agent.toCommand(variables::get).command().getFirst())
        .isEqualTo(folder.resolve("agent.sh").toString());
    assertThat(agent.secretValues(variables::get)).containsExactly("s3cret");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "runtimes: 5 | runtimes must hold an entry for each name",
        "runtimes: {agent: {}} | runtimes.agent.command is missing",
        "runtimes: {agent: {command: [x], args: 1}} | runtimes.agent.args is unknown",
        "runtimes: {'a b': {command: [x]}} | runtimes.a b"
      })
  void invalid_runtimes_are_rejected_with_a_message(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }

  @Test
  void retries_are_those_of_the_settings_and_of_kinds_and_queues_in_the_file() throws IOException {
    assertThat(with(Map.of()).retries())
        .isEqualTo(RetryDefaults.of(new Retries(3, RetryPolicy.DEFAULT)));
    Path yaml =
        Files.writeString(
            folder.resolve("holdfast.yaml"),
            """
            retries:
              delay: 20s
              kinds:
                mail: {maxAttempts: 6, delay: 1m}
              queues:
                slow: {maxAttempts: 5}
                quick: {delay: 1s, factor: 1, maxDelay: 5s}
            """);
    Settings settings = Settings.load(Map.of(), Map.of("MAX_ATTEMPTS", "4"), yaml);
    Duration quarter = Duration.ofMinutes(15);
    assertThat(settings.retries())
        .isEqualTo(
            new RetryDefaults(
                new Retries(4, new RetryPolicy(Duration.ofSeconds(20), 12, quarter)),
                Map.of("mail", new Retries(6, new RetryPolicy(Duration.ofMinutes(1), 12, quarter))),
                Map.of(
                    "slow",
                    new Retries(5, null),
                    "quick",
                    new Retries(
                        null, new RetryPolicy(Duration.ofSeconds(1), 1, Duration.ofSeconds(5))))));
    // It says nothing about what a supervisor is to run.
    assertThat(settings.queues()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "retries: 5 | is no setting but holds some: retries.maxAttempts",
        "retries: {mail: {}} | setting 'retries.mail' is unknown",
        "retries: {kinds: 5} | retries.kinds must hold an entry for each name",
        "retries: {kinds: {mail: {max: 1}}} | retries.kinds.mail.max is unknown",
        "retries: {kinds: {mail: {maxAttempts: 0}}} | retries.kinds.mail.maxAttempts must be",
        "retries: {kinds: {mail: {delay: soon}}} | retries.kinds.mail: 'soon' is no duration",
        "retries: {kinds: {mail: {factor: 0}}} | retries.kinds.mail: retry delay: factor",
        "retries: {queues: {'a b': {}}} | retries.queues.a b: queue 'a b' must"
      })
  void invalid_retries_are_rejected_with_a_message(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }

  @Test
  void a_supervisor_runs_the_workers_configured_for_each_queue() throws IOException {
    Settings settings =
        file(
            """
            worker: {concurrency: 7, processes: 3}
            queues:
              tag: {processes: 2, concurrency: 4}
              library:
            """);
    assertThat(Supervision.served(settings))
        .containsExactly(
            new Supervision.Served("tag", 2, 4), new Supervision.Served("library", 3, 7));
    assertThat(Supervision.describe(settings))
        .isEqualTo("tag: 2 processes of 4, library: 3 processes of 7");
  }

  @Test
  void without_queues_in_the_file_a_supervisor_serves_those_of_a_worker() {
    assertThat(Supervision.served(with(Map.of("HOLDFAST_WORKER_QUEUES", "a,b"))))
        .containsExactly(new Supervision.Served("a", 1, 10), new Supervision.Served("b", 1, 10));
  }

  @Test
  void queues_chosen_on_the_command_line_are_all_that_is_served() throws IOException {
    Path yaml =
        Files.writeString(
            folder.resolve("holdfast.yaml"), "queues: {tag: {processes: 2}, library: {}}");
    Settings settings = Settings.load(Map.of("worker.queues", "tag,mail"), Map.of(), yaml);
    assertThat(Supervision.served(settings))
        .containsExactlyInAnyOrder(
            new Supervision.Served("tag", 2, 10), new Supervision.Served("mail", 1, 10));
    // Workers are started with the same file, wherever it was named.
    assertThat(settings.optionsAsVariables())
        .containsOnly(
            Map.entry("HOLDFAST_WORKER_QUEUES", "tag,mail"),
            Map.entry("HOLDFAST_CONFIG", yaml.toAbsolutePath().toString()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "queues: 5 | queues must hold an entry for each name",
        "queues: {tag: {process: 1}} | queues.tag.process is unknown",
        "queues: {tag: {processes: 1001}} | queues.tag.processes must be a whole number between 0",
        "queues: {tag: {processes: -1}} | queues.tag.processes must be a whole number",
        "queues: {tag: {concurrency: 0}} | queues.tag.concurrency must be a whole number",
        "queues: {tag: {concurrency: 1.5}} | queues.tag.concurrency must be a whole number",
        "queues: {'a b': {}} | queues.a b"
      })
  void invalid_queues_are_rejected_with_a_message(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }
}
