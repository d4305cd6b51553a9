package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.app.run.Supervision;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ShownSetting;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

  @ParameterizedTest
  @CsvSource({
    "DATABASE_URL, ''",
    "DATABASE_USER, ''",
    "DATABASE_PASSWORD, ''",
    "DATABASE_POOL, 10",
    "ALLOW_UNSAFE_DATABASE, false",
    "FOLDER, .holdfast",
    "DATABASE_PORT, 0",
    "QUEUES, default",
    "MAX_CONCURRENCY, 10",
    "POLL_INTERVAL_MS, 1000",
    "SHUTDOWN_TIMEOUT_SEC, 30",
    "UNKNOWN_KIND_SEC, 300",
    "WORKER_PROCESSES, 1",
    "WORKER_JAVA_OPTIONS, ''",
    "SUPERVISOR, ''",
    "HEALTH_INTERVAL_SEC, 5",
    "HEALTH_TIMEOUT_SEC, 30",
    "BOOT_TIMEOUT_SEC, 60",
    "STOP_TIMEOUT_SEC, 10",
    "OVERDUE_HANDLER_SEC, 300",
    "RESTART_DELAY_SEC, 1",
    "RESTART_DELAY_MAX_SEC, 60",
    "RESTART_LIMIT, 5",
    "RESTART_WINDOW_SEC, 300",
    "RESTART_LIFETIME_LIMIT, 20",
    "RESTART_FORGIVEN_SEC, 300",
    "LOGS_FOLDER, ''",
    "LOG_MEGABYTES, 20",
    "TIMINGS, ''",
    "HEARTBEAT_INTERVAL_SEC, 10",
    "LEASE_TIMEOUT_SEC, ''",
    "REAP_GRACE_SEC, 0",
    "CANCEL_GRACE_SEC, 30",
    "HIGH_WATERMARK, ''",
    "LOAD_THRESHOLD, 0.8",
    "PAUSE_INTERVAL_SEC, 5",
    "SCRATCH_FOLDER, ''",
    "KEEP_SCRATCH_ON_SUCCESS, false",
    "ARTIFACTS_FOLDER, ''",
    "STEP_MAX_ATTEMPTS, 3",
    "STEP_TIMEOUT_SECONDS, 900",
    "STEP_IDLE_TIMEOUT_SECONDS, 300",
    "STEP_NO_PROGRESS_LIMIT, 2",
    "JOB_SELF_HEAL_MAX_RESETS, 1",
    "CACHE_FOLDER, ''",
    "GIT_TIMEOUT_SECONDS, 7200",
    "PATCH_MEGABYTES, 20",
    "MAX_ATTEMPTS, 3",
    "RETRY_DELAY, 10s",
    "RETRY_FACTOR, 12",
    "RETRY_LONGEST, 15m",
    "RETAIN_SUCCEEDED, 7d",
    "RETAIN_CANCELLED, 30d",
    "RETAIN_FAILED, 30d",
    "SERVER_HOST, 127.0.0.1",
    "SERVER_PORT, 8420",
    "PUBLIC_URL, ''",
    "ALLOWED_HOSTS, ''",
    "TLS_CERTIFICATE, ''",
    "TLS_KEY, ''",
    "REQUESTS_PER_SECOND, 1000",
    "HEARTBEAT_INTERVAL_MS, 30000",
    "HEARTBEAT_TIMEOUT_MS, 90000",
    "CANCEL_GRACE_PERIOD_MS, 30000",
    "TOKEN_TTL_SECONDS, 3600",
    "DISPATCH_ALLOW, ''",
    "DISPATCH_TIMEOUT_MS, ''",
    "STATSD, ''",
    "SERVER_URL, ''",
    "API_KEY, ''",
    "LOG_LEVEL, info",
    "LOG_FORMAT, text"
  })
  void the_defaults_are(Setting setting, String value) {
    assertThat(with(Map.of()).text(setting)).isEqualTo(value);
    assertThat(with(Map.of()).value(setting).origin()).isEqualTo("default");
  }

  @Test
  void a_server_shows_its_settings_with_their_origin_and_no_secret() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("holdfast.yaml"),
            """
            server: {apiKey: hf_0123456789ab_verysecret}
            database: {url: "postgres://ada:verysecret@db/jobs", password: verysecret}
            handlers:
              clip: {command: [clip, --password=verysecret, --fast]}
            runtimes:
              agent: {command: [agent, --api-key, verysecret]}
            """);
    Settings settings =
        Settings.load(Map.of(Setting.SERVER_PORT, "0"), Map.of("MAX_CONCURRENCY", "3"), file);
    List<ShownSetting> shown = ServerSettings.options(settings).settings();
    assertThat(shown).hasSize(Setting.values().length + 2);
    assertThat(shown)
        .contains(
            new ShownSetting(
                "server.port", "HOLDFAST_PORT", "0", "option", Setting.SERVER_PORT.meaning()),
            new ShownSetting(
                "worker.concurrency",
                "MAX_CONCURRENCY",
                "3",
                "environment",
                Setting.MAX_CONCURRENCY.meaning()),
            new ShownSetting(
                "database.url",
                "HOLDFAST_DATABASE_URL",
                "postgres://ada:***@db/jobs",
                "" + file,
                Setting.DATABASE_URL.meaning()),
            new ShownSetting(
                "handlers.clip",
                "",
                "clip --password=*** --fast",
                "" + file,
                "program that runs the kind"));
    assertThat(shown.toString()).doesNotContain("verysecret");
  }

  @Test
  void runtimes_see_what_they_are_passed_and_their_secrets_are_known() throws IOException {
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
        "runtimes: 5 | runtimes must hold something for each name",
        "runtimes: {agent: {}} | runtimes.agent.command is missing",
        "runtimes: {agent: {command: [x], args: 1}} | runtimes.agent.args is unknown",
        "runtimes: {'a b': {command: [x]}} | runtimes.a b"
      })
  void wrong_runtimes_are_refused_in_words(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }

  @Test
  void retries_are_those_of_the_settings_and_of_kinds_and_queues_in_the_file() throws IOException {
    assertThat(RetrySettings.defaults(with(Map.of())))
        .isEqualTo(RetryDefaults.of(new Retries(3, RetryPolicy.DEFAULT)));
    Path yaml =
        Files.writeString(
            folder.resolve("holdfast.yaml"),
            """
            jobs: {retryDelay: 20s}
            retries:
              kinds:
                mail: {maxAttempts: 6, delay: 1m}
              queues:
                slow: {maxAttempts: 5}
                quick: {delay: 1s, factor: 1, longest: 5s}
            """);
    Settings settings = Settings.load(Map.of(), Map.of("MAX_ATTEMPTS", "4"), yaml);
    Duration quarter = Duration.ofMinutes(15);
    assertThat(RetrySettings.defaults(settings))
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
        "retries: 5 | retries must hold kinds, queues",
        "retries: {mail: {}} | retries.mail is unknown: it may hold kinds, queues",
        "retries: {kinds: 5} | kinds must hold something for each name",
        "retries: {kinds: {mail: {max: 1}}} | retries.kinds.mail.max is unknown",
        "retries: {kinds: {mail: {maxAttempts: 0}}} | retries.kinds.mail.maxAttempts must be",
        "retries: {kinds: {mail: {delay: soon}}} | retries.kinds.mail: 'soon' is no duration",
        "retries: {kinds: {mail: {factor: 0}}} | retries.kinds.mail: retry delay: factor",
        "retries: {queues: {'a b': {}}} | retries.queues.a b: queue 'a b' must"
      })
  void wrong_retries_are_refused_in_words(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }

  @Test
  void a_supervisor_runs_what_the_file_says_for_each_queue() throws IOException {
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
    assertThat(Supervision.served(with(Map.of("HOLDFAST_QUEUES", "a,b"))))
        .containsExactly(new Supervision.Served("a", 1, 10), new Supervision.Served("b", 1, 10));
  }

  @Test
  void queues_chosen_on_the_command_line_are_all_that_is_served() throws IOException {
    Path yaml =
        Files.writeString(
            folder.resolve("holdfast.yaml"), "queues: {tag: {processes: 2}, library: {}}");
    Settings settings = Settings.load(Map.of(Setting.QUEUES, "tag,mail"), Map.of(), yaml);
    assertThat(Supervision.served(settings))
        .containsExactlyInAnyOrder(
            new Supervision.Served("tag", 2, 10), new Supervision.Served("mail", 1, 10));
    // Workers are started with the same file, wherever it was named.
    assertThat(settings.optionsAsVariables())
        .containsOnly(
            Map.entry("HOLDFAST_QUEUES", "tag,mail"),
            Map.entry("HOLDFAST_CONFIG", yaml.toAbsolutePath().toString()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "queues: 5 | queues must hold something for each name",
        "queues: {tag: {process: 1}} | queues.tag.process is unknown",
        "queues: {tag: {processes: 1001}} | queues.tag.processes must be a whole number between 0",
        "queues: {tag: {processes: -1}} | queues.tag.processes must be a whole number",
        "queues: {tag: {concurrency: 0}} | queues.tag.concurrency must be a whole number",
        "queues: {tag: {concurrency: 1.5}} | queues.tag.concurrency must be a whole number",
        "queues: {'a b': {}} | queues.a b"
      })
  void wrong_queues_are_refused_in_words(String yaml, String message) {
    assertThatThrownBy(() -> file(yaml)).hasMessageContaining(message);
  }

  @Test
  void every_setting_is_pinned_above() throws NoSuchMethodException {
    CsvSource pinned =
        SettingsTest.class
            .getDeclaredMethod("the_defaults_are", Setting.class, String.class)
            .getAnnotation(CsvSource.class);
    assertThat(pinned.value()).hasSize(Setting.values().length);
  }

  @Test
  void an_option_wins_over_the_environment_and_that_over_the_file() throws IOException {
    Path file =
        Files.writeString(folder.resolve("h.yaml"), "worker: {concurrency: 3, queues: [a, b]}");
    Map<String, String> environment = Map.of("MAX_CONCURRENCY", "4");

    Settings fromFile = Settings.load(Map.of(), Map.of(), file);
    assertThat(fromFile.whole(Setting.MAX_CONCURRENCY)).isEqualTo(3);
    assertThat(fromFile.list(Setting.QUEUES)).containsExactly("a", "b");
    assertThat(fromFile.value(Setting.QUEUES).origin()).isEqualTo(file.toString());

    Settings fromEnvironment = Settings.load(Map.of(), environment, file);
    assertThat(fromEnvironment.whole(Setting.MAX_CONCURRENCY)).isEqualTo(4);
    assertThat(fromEnvironment.value(Setting.MAX_CONCURRENCY).origin()).isEqualTo("environment");

    Settings fromOption = Settings.load(Map.of(Setting.MAX_CONCURRENCY, "5"), environment, file);
    assertThat(fromOption.whole(Setting.MAX_CONCURRENCY)).isEqualTo(5);
    assertThat(fromOption.value(Setting.MAX_CONCURRENCY).origin()).isEqualTo("option");
  }

  @Test
  void an_unknown_key_in_the_file_is_refused_with_the_nearest_known_one() {
    assertThatThrownBy(() -> file("worker: {concurency: 3}"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("'worker.concurency' is unknown")
        .hasMessageContaining("did you mean 'worker.concurrency'?");
  }

  @Test
  void an_unknown_variable_of_ours_is_refused_and_others_are_left_alone() {
    assertThatThrownBy(() -> with(Map.of("HOLDFAST_QUEUE", "mail")))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("did you mean 'HOLDFAST_QUEUES'?");
    assertThat(with(Map.of("PATH", "/bin")).text(Setting.QUEUES)).isEqualTo("default");
  }

  @Test
  void a_file_that_is_no_yaml_names_the_line() {
    assertThatThrownBy(() -> file("worker:\n  queues: [a\n"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("cannot be used: line");
  }

  @Test
  void a_value_that_cannot_be_says_where_it_came_from_and_what_would_be_right() {
    assertThatThrownBy(() -> with(Map.of("MAX_CONCURRENCY", "many")).whole(Setting.MAX_CONCURRENCY))
        .isInstanceOf(CommandException.class)
        .hasMessage(
            "worker.concurrency (MAX_CONCURRENCY) is 'many' by environment: a whole number is expected");
  }

  @Test
  void timings_come_from_the_heartbeat_the_preset_or_both() {
    assertThat(WorkerSettings.timings(with(Map.of()))).isEqualTo(Timings.DEFAULT);
    assertThat(WorkerSettings.timings(with(Map.of("HEARTBEAT_INTERVAL_SEC", "2"))).lease())
        .isEqualTo(Duration.ofSeconds(6));
    Settings preset = with(Map.of("HOLDFAST_TIMINGS", "production"));
    assertThat(WorkerSettings.timings(preset)).isEqualTo(Timings.preset("production"));
    assertThat(preset.value(Setting.LEASE_TIMEOUT_SEC))
        .isEqualTo(new Settings.Value("300", "preset production"));
    assertThat(
            WorkerSettings.timings(
                    with(Map.of("HOLDFAST_TIMINGS", "production", "LEASE_TIMEOUT_SEC", "100")))
                .lease())
        .isEqualTo(Duration.ofSeconds(100));
  }

  @ParameterizedTest
  @CsvSource({
    "HOLDFAST_TIMINGS, fast",
    "LEASE_TIMEOUT_SEC, 11",
    "HEARTBEAT_INTERVAL_SEC, 0",
    "LOAD_THRESHOLD, 2",
    "HIGH_WATERMARK, -1"
  })
  void what_the_worker_would_refuse_is_a_wrong_setting(String variable, String value) {
    assertThatThrownBy(() -> WorkerSettings.check(with(Map.of(variable, value))))
        .isInstanceOf(CommandException.class)
        .satisfies(
            thrown ->
                assertThat(((CommandException) thrown).exitCode())
                    .isEqualTo(ExitCode.CONFIGURATION));
  }

  @Test
  void the_defaults_of_the_server_are_those_of_the_worker_contract() {
    ServerOptions options = ServerSettings.options(with(Map.of()));
    assertThat(options.settings(List.of()))
        .isEqualTo(ServerOptions.DEFAULT.artifacts(Path.of(".holdfast").resolve("")));
    assertThat(options.timings().heartbeat()).isEqualTo(Duration.ofSeconds(30));
    assertThat(options.timings().lease()).isEqualTo(Duration.ofSeconds(90));
    assertThat(options.timings().cancelGrace()).isEqualTo(Duration.ofSeconds(30));
    assertThat(options.dispatchAnswerWithin()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void every_setting_of_the_server_reaches_it() {
    ServerOptions options =
        ServerSettings.options(
            with(
                Map.ofEntries(
                    Map.entry("HOLDFAST_HOST", "0.0.0.0"),
                    Map.entry("HOLDFAST_PORT", "9000"),
                    Map.entry("HOLDFAST_PUBLIC_URL", "https://jobs.example.org/"),
                    Map.entry("HOLDFAST_ALLOWED_HOSTS", "Jobs.internal, [::1]"),
                    Map.entry("HOLDFAST_TLS_CERT", "cert.pem"),
                    Map.entry("HOLDFAST_TLS_KEY", "key.pem"),
                    Map.entry("HOLDFAST_REQUESTS_PER_SECOND", "7"),
                    Map.entry("HEARTBEAT_INTERVAL_MS", "1000"),
                    Map.entry("HEARTBEAT_TIMEOUT_MS", "2000"),
                    Map.entry("CANCEL_GRACE_PERIOD_MS", "3000"),
                    Map.entry("TOKEN_TTL_SECONDS", "7200"),
                    Map.entry("HOLDFAST_DISPATCH_ALLOW", "hooks.example.org:8443, 10.0.0.7"),
                    Map.entry("HOLDFAST_DISPATCH_TIMEOUT_MS", "900"),
                    Map.entry("HOLDFAST_STATSD", "127.0.0.1:8125"),
                    Map.entry("HOLDFAST_ARTIFACTS_FOLDER", "out"))));
    assertThat(options.settings(List.of()))
        .isEqualTo(
            new ServerOptions(
                "0.0.0.0",
                9000,
                URI.create("https://jobs.example.org"),
                Set.of("jobs.internal", "[::1]"),
                new ServerOptions.Tls(Path.of("cert.pem"), Path.of("key.pem")),
                new Timings(
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(2),
                    Duration.ZERO,
                    Duration.ofSeconds(3)),
                new TokenLifetime(Duration.ofHours(2)),
                7,
                Set.of("hooks.example.org:8443", "10.0.0.7"),
                Duration.ofMillis(900),
                Path.of("out"),
                new ServerOptions.Statsd("127.0.0.1", 8125),
                List.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "HOLDFAST_PORT, 70000, HOLDFAST_PORT",
    "HOLDFAST_HOST, '', HOLDFAST_HOST",
    "HOLDFAST_PUBLIC_URL, ftp://x, HOLDFAST_PUBLIC_URL",
    "HOLDFAST_PUBLIC_URL, http://user:pw@x, HOLDFAST_PUBLIC_URL",
    "HOLDFAST_ALLOWED_HOSTS, a b, HOLDFAST_ALLOWED_HOSTS",
    "HOLDFAST_ALLOWED_HOSTS, a:80, HOLDFAST_ALLOWED_HOSTS",
    "HOLDFAST_TLS_CERT, c.pem, HOLDFAST_TLS_KEY is missing",
    "HOLDFAST_TLS_KEY, k.pem, HOLDFAST_TLS_CERT is missing",
    "HOLDFAST_REQUESTS_PER_SECOND, -1, HOLDFAST_REQUESTS_PER_SECOND",
    "HEARTBEAT_INTERVAL_MS, 0, HEARTBEAT_INTERVAL_MS",
    "HEARTBEAT_INTERVAL_MS, 45001, HEARTBEAT_TIMEOUT_MS",
    "HEARTBEAT_TIMEOUT_MS, 59999, at least twice HEARTBEAT_INTERVAL_MS (30000)",
    "CANCEL_GRACE_PERIOD_MS, -1, CANCEL_GRACE_PERIOD_MS",
    "TOKEN_TTL_SECONDS, 7201, TOKEN_TTL_SECONDS",
    "TOKEN_TTL_SECONDS, 0, TOKEN_TTL_SECONDS",
    "HOLDFAST_DISPATCH_ALLOW, http://x, HOLDFAST_DISPATCH_ALLOW",
    "HOLDFAST_DISPATCH_TIMEOUT_MS, 0, HOLDFAST_DISPATCH_TIMEOUT_MS",
    "HOLDFAST_DISPATCH_TIMEOUT_MS, 45001, at most half of HEARTBEAT_TIMEOUT_MS (90000)",
    "HOLDFAST_STATSD, localhost, HOLDFAST_STATSD"
  })
  void what_the_server_would_refuse_is_a_wrong_setting(
      String variable, String value, String message) {
    assertThatThrownBy(() -> ServerSettings.options(with(Map.of(variable, value))))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(message)
        .satisfies(
            thrown -> {
              assertThat(((CommandException) thrown).exitCode()).isEqualTo(ExitCode.CONFIGURATION);
              assertThat(thrown.getMessage()).doesNotContain("pw");
            });
  }
}
