package dev.holdfast.app.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.app.error.CommandException;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.contract.token.TokenLifetime;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ShownSetting;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The options of a server as built from its settings. */
class ServerSettingsTest {
  @TempDir Path folder;

  private static Settings with(Map<String, String> environment) {
    return Settings.load(Map.of(), environment, null);
  }

  @Test
  void the_defaults_of_the_server_are_those_of_the_worker_contract() {
    ServerOptions options = with(Map.of()).server();
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
        with(Map.ofEntries(
                Map.entry("HOLDFAST_SERVER_HOST", "0.0.0.0"),
                Map.entry("HOLDFAST_SERVER_PORT", "9000"),
                Map.entry("HOLDFAST_SERVER_PUBLIC_URL", "https://jobs.example.org/"),
                Map.entry("HOLDFAST_SERVER_ALLOWED_HOSTS", "Jobs.internal, [::1]"),
                Map.entry("HOLDFAST_SERVER_TLS_CERTIFICATE", "cert.pem"),
                Map.entry("HOLDFAST_SERVER_TLS_KEY", "key.pem"),
                Map.entry("HOLDFAST_SERVER_REQUESTS_PER_SECOND", "7"),
                Map.entry("HEARTBEAT_INTERVAL_MS", "1000"),
                Map.entry("HEARTBEAT_TIMEOUT_MS", "2000"),
                Map.entry("CANCEL_GRACE_PERIOD_MS", "3000"),
                Map.entry("TOKEN_TTL_SECONDS", "7200"),
                Map.entry("HOLDFAST_DISPATCH_ALLOW", "hooks.example.org:8443, 10.0.0.7"),
                Map.entry("HOLDFAST_DISPATCH_TIMEOUT", "900ms"),
                Map.entry("HOLDFAST_METRICS_STATSD", "127.0.0.1:8125"),
                Map.entry("HOLDFAST_ARTIFACTS_FOLDER", "out")))
            .server();
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
                null,
                List.of()));
  }

  private static final String SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

  @Test
  void the_receiver_of_notices_reaches_the_server_and_is_never_shown() {
    URI hook = URI.create("https://hooks.example.org/T0/secret?token=hidden");
    Settings settings =
        with(Map.of("HOLDFAST_NOTIFY_URL", hook.toString(), "HOLDFAST_NOTIFY_SECRET", SECRET));
    ServerOptions.Receiver receiver = Objects.requireNonNull(settings.server().notices());
    assertThat(receiver.url()).isEqualTo(hook);
    assertThat(receiver.shown()).isEqualTo("https://hooks.example.org");
    assertThat(receiver).asString().doesNotContain("hidden", "T0");
    assertThat(settings.shown())
        .filteredOn(each -> each.key().startsWith("notify."))
        .extracting(ShownSetting::value)
        .containsExactly("***", "***");
    assertThat(settings.scrubber().scrub("posting to " + hook + " with " + SECRET))
        .doesNotContain("hidden", SECRET);
    assertThat(with(Map.of()).server().notices()).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "ftp://x/hook, whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=, a URL such as https://example.org/hook is expected",
    "https://user:pw@x/, whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=, a URL such as",
    "https://x/, too-short, 24 to 64 random bytes",
    "https://x/, whsec_MDEyMzQ1, 24 to 64 random bytes",
    "https://x/, whsec_not*base64*not*base64*not*base64*not*, 24 to 64 random bytes",
    "https://x/, '', HOLDFAST_NOTIFY_SECRET is missing",
    "'', whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=, HOLDFAST_NOTIFY_URL is missing"
  })
  void a_wrong_receiver_of_notices_is_refused_without_being_shown(
      String url, String secret, String expected) {
    Settings settings = with(Map.of("HOLDFAST_NOTIFY_URL", url, "HOLDFAST_NOTIFY_SECRET", secret));
    assertThatThrownBy(settings::server)
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(expected)
        .hasMessageContaining("HOLDFAST_NOTIFY_")
        .message()
        .doesNotContain("MDEy", "too-short", "not*base64", "user:pw");
    assertThat(settings.problems()).singleElement().asString().contains(expected);
  }

  @Test
  void links_that_would_lead_nowhere_are_refused() {
    Map<String, String> environment =
        Map.of(
            "HOLDFAST_NOTIFY_URL", "https://x/",
            "HOLDFAST_NOTIFY_SECRET", SECRET,
            "HOLDFAST_SERVER_HOST", "0.0.0.0");
    assertThatThrownBy(with(environment)::server)
        .hasMessageContaining("HOLDFAST_NOTIFY_URL needs HOLDFAST_SERVER_PUBLIC_URL")
        .hasMessageContaining("0.0.0.0");
    Map<String, String> known = new HashMap<>(environment);
    known.put("HOLDFAST_SERVER_PUBLIC_URL", "https://jobs.example.org");
    assertThat(with(known).server().notices()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "HOLDFAST_SERVER_PORT, 70000, HOLDFAST_SERVER_PORT",
    "HOLDFAST_SERVER_HOST, '', HOLDFAST_SERVER_HOST",
    "HOLDFAST_SERVER_PUBLIC_URL, ftp://x, HOLDFAST_SERVER_PUBLIC_URL",
    "HOLDFAST_SERVER_PUBLIC_URL, http://user:pw@x, HOLDFAST_SERVER_PUBLIC_URL",
    "HOLDFAST_SERVER_ALLOWED_HOSTS, a b, HOLDFAST_SERVER_ALLOWED_HOSTS",
    "HOLDFAST_SERVER_ALLOWED_HOSTS, a:80, HOLDFAST_SERVER_ALLOWED_HOSTS",
    "HOLDFAST_SERVER_TLS_CERTIFICATE, c.pem, HOLDFAST_SERVER_TLS_KEY is missing",
    "HOLDFAST_SERVER_TLS_KEY, k.pem, HOLDFAST_SERVER_TLS_CERTIFICATE is missing",
    "HOLDFAST_SERVER_REQUESTS_PER_SECOND, -1, HOLDFAST_SERVER_REQUESTS_PER_SECOND",
    "HEARTBEAT_INTERVAL_MS, 0, HEARTBEAT_INTERVAL_MS",
    "HEARTBEAT_INTERVAL_MS, 45001, HEARTBEAT_TIMEOUT_MS",
    "HEARTBEAT_TIMEOUT_MS, 59999, at least twice HEARTBEAT_INTERVAL_MS (30s)",
    "CANCEL_GRACE_PERIOD_MS, -1, CANCEL_GRACE_PERIOD_MS",
    "TOKEN_TTL_SECONDS, 7201, TOKEN_TTL_SECONDS",
    "TOKEN_TTL_SECONDS, 0, TOKEN_TTL_SECONDS",
    "HOLDFAST_DISPATCH_ALLOW, http://x, HOLDFAST_DISPATCH_ALLOW",
    "HOLDFAST_DISPATCH_TIMEOUT, 0s, HOLDFAST_DISPATCH_TIMEOUT",
    "HOLDFAST_DISPATCH_TIMEOUT, 45001ms, at most half of HEARTBEAT_TIMEOUT_MS (90s)",
    "HOLDFAST_METRICS_STATSD, localhost, HOLDFAST_METRICS_STATSD"
  })
  void a_value_that_the_server_rejects_is_an_invalid_setting(
      String variable, String value, String message) {
    assertThatThrownBy(() -> with(Map.of(variable, value)).server())
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(message)
        .satisfies(
            thrown -> {
              assertThat(((CommandException) thrown).exitCode()).isEqualTo(ExitCode.CONFIGURATION);
              assertThat(thrown.getMessage()).doesNotContain("pw");
            });
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
        Settings.load(Map.of("server.port", "0"), Map.of("MAX_CONCURRENCY", "3"), file);
    List<ShownSetting> shown = settings.server().settings();
    assertThat(shown).hasSize((int) Settings.all().count() + 2);
    assertThat(shown)
        .contains(
            new ShownSetting(
                "server.port",
                "HOLDFAST_SERVER_PORT",
                "0",
                "option",
                Settings.setting("server.port").description()),
            new ShownSetting(
                "worker.concurrency",
                "MAX_CONCURRENCY",
                "3",
                "environment",
                Settings.setting("worker.concurrency").description()),
            new ShownSetting(
                "database.url",
                "HOLDFAST_DATABASE_URL",
                "postgres://ada:***@db/jobs",
                "" + file,
                Settings.setting("database.url").description()),
            new ShownSetting(
                "handlers.clip",
                "",
                "clip --password=*** --fast",
                "" + file,
                "program that runs the kind"));
    assertThat(shown.toString()).doesNotContain("verysecret");
  }
}
