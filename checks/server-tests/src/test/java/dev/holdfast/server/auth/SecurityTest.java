package dev.holdfast.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.server.config.ServerStartException;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class SecurityTest extends ServerTest {
  private static final char[] PASSWORD = "changeit".toCharArray();

  SecurityTest(TestDatabase db) {
    super(db);
  }

  private HoldfastServer another(UnaryOperator<ServerOptions> options) {
    return HoldfastServer.start(holdfast, options.apply(ServerOptions.DEFAULT.port(0)));
  }

  /** Otherwise clients would send their keys to the process that has the port. */
  @Test
  void a_server_does_not_start_on_a_port_in_use() {
    int taken = server.url().getPort();
    assertThatThrownBy(() -> another(options -> options.port(taken)).close())
        .isInstanceOfSatisfying(
            ServerStartException.class,
            refused ->
                assertThat(refused.reason()).isEqualTo(ServerStartException.Reason.PORT_TAKEN))
        .hasMessageContaining(String.valueOf(taken));
  }

  @Test
  void a_server_does_not_bind_beyond_loopback_without_a_key() {
    assertThatThrownBy(() -> another(options -> options.host("0.0.0.0")).close())
        .isInstanceOfSatisfying(
            ServerStartException.class,
            refused -> assertThat(refused.reason()).isEqualTo(ServerStartException.Reason.NO_KEYS))
        .hasMessageContaining("holdfast keys create");
  }

  @Test
  void a_server_with_a_key_binds_beyond_loopback_and_requires_a_key() {
    String admin = key(Role.ADMIN, null);
    try (HoldfastServer open = another(options -> options.host("0.0.0.0"))) {
      Client there = new Client(URI.create("http://127.0.0.1:" + open.url().getPort()));
      there.get("/v1/jobs", null).is(401, "key_missing");
      there.get("/v1/jobs", admin).ok();
    }
  }

  @Test
  void on_loopback_no_key_is_required_until_one_exists() {
    client.get("/v1/jobs", null).ok();
    JsonNode made = client.post("/v1/keys", Map.of("name", "me", "role", "admin"), null).created();
    client.get("/v1/jobs", null).is(401, "key_missing");
    client.get("/v1/jobs", made.get("key").asText()).ok();
  }

  @Test
  void a_key_over_its_request_rate_is_answered_with_429() {
    String admin = key(Role.ADMIN, null);
    String other = key(Role.ADMIN, null);
    try (HoldfastServer slow = another(options -> options.requestsPerSecond(2))) {
      Client there = new Client(slow.url());
      Client.Reply limited =
          IntStream.range(0, 10_000)
              .mapToObj(i -> there.get("/v1/queues", admin))
              .filter(reply -> reply.status() != 200)
              .findFirst()
              .orElseThrow();
      limited.is(429, "rate_limited");
      assertThat(limited.response().headers().firstValue("Retry-After")).contains("1");
      there.get("/v1/queues", other).ok();
    }
  }

  @Test
  void requests_with_invalid_keys_are_rate_limited() {
    key(Role.ADMIN, null);
    Client.Reply limited =
        IntStream.range(0, 10_000)
            .mapToObj(i -> client.get("/v1/jobs", Secrets.next().text()))
            .filter(reply -> reply.status() != 401)
            .findFirst()
            .orElseThrow();
    limited.is(429, "rate_limited");
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void while_the_database_is_down_requests_fail_within_seconds() {
    try (FaultProxy proxy = FaultProxy.before(db);
        Holdfast through = Holdfast.on(db.dataSource(proxy, 10));
        HoldfastServer cut = HoldfastServer.start(through, ServerOptions.DEFAULT.port(0))) {
      Client there = new Client(cut.url());
      there.get("/v1/jobs", null).ok();
      proxy.cut();
      long start = System.nanoTime();
      Client.Reply away = there.get("/v1/jobs", null).is(503, "database_unavailable");
      assertThat(away.response().headers().firstValue("Retry-After")).contains("1");
      there.post("/v1/jobs", Map.of("kind", "k"), null).is(503, "database_unavailable");
      there.get("/ready", null).is(503, "not_ready");
      there.get("/health", null).ok();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
      proxy.mend();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"EC", "RSA", "Ed25519"})
  void with_a_certificate_everything_is_encrypted(String algorithm, @TempDir Path folder)
      throws IOException, InterruptedException, GeneralSecurityException {
    KeyStore made = certificate(folder, algorithm);
    Path certificate =
        pem(folder, "cert.pem", "CERTIFICATE", made.getCertificate("it").getEncoded());
    PrivateKey secret = (PrivateKey) made.getKey("it", PASSWORD);
    Path key = pem(folder, "key.pem", "PRIVATE KEY", secret.getEncoded());
    try (HoldfastServer tls =
            another(options -> options.tls(new ServerOptions.Tls(certificate, key)));
        HttpClient trusting = HttpClient.newBuilder().sslContext(trusting(made)).build();
        HttpClient stranger = HttpClient.newHttpClient()) {
      URI url = URI.create("https://localhost:" + tls.url().getPort() + "/health");
      assertThat(tls.url().getScheme()).isEqualTo("https");
      HttpResponse<String> answer =
          trusting.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.sslSession().orElseThrow().getProtocol()).isIn("TLSv1.3", "TLSv1.2");
      assertThatThrownBy(
              () -> stranger.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofString()))
          .isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void an_unreadable_certificate_is_rejected_with_its_cause(@TempDir Path folder)
      throws IOException {
    Path none = Files.writeString(folder.resolve("none.pem"), "nothing");
    assertThatThrownBy(
            () -> another(options -> options.tls(new ServerOptions.Tls(none, none))).close())
        .isInstanceOfSatisfying(
            ServerStartException.class,
            refused -> assertThat(refused.reason()).isEqualTo(ServerStartException.Reason.TLS))
        .hasMessageContaining("none.pem");
  }

  private static KeyStore certificate(Path folder, String algorithm)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path file = folder.resolve("store.p12");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-alias",
                "it",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD)));
    if (algorithm.equals("RSA")) {
      // Primes are found by trial, and larger ones take up to minutes on a busy machine.
      command.addAll(List.of("-keysize", "2048"));
    }
    Process keytool =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(keytool.waitFor(10, TimeUnit.MINUTES)).isTrue();
    assertThat(keytool.exitValue()).isZero();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    return store;
  }

  private static Path pem(Path folder, String name, String what, byte[] encoded)
      throws IOException {
    return Files.writeString(
        folder.resolve(name),
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(what, Base64.getMimeEncoder().encodeToString(encoded), what));
  }

  private static SSLContext trusting(KeyStore made) throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("it", made.getCertificate("it"));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  @Test
  void no_secret_reaches_the_log() {
    List<String> secrets = new ArrayList<>();
    String log =
        logged(
            () -> {
              String admin = key(Role.ADMIN, null);
              secrets.add(admin);
              client.get("/v1/jobs?q=x", admin).ok();
              JsonNode made =
                  client.post("/v1/keys", Map.of("name", "n", "role", "viewer"), admin).created();
              secrets.add(made.get("key").asText());
              client.get("/v1/jobs", admin + "x").is(401, "key_invalid");
              enqueued();
              JsonNode task =
                  client
                      .post("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w"), admin)
                      .ok()
                      .at("/tasks/0");
              secrets.add(task.get("taskToken").asText());
              callback(task, "heartbeat", Map.of("attempt", 7, "workerId", "w"))
                  .is(403, "token_scope");
              callback(task, "completed", done()).ok();
              callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w"))
                  .is(410, "task_expired");
              client
                  .put(
                      "/v1/queues/q/dispatch",
                      Map.of("url", "http://elsewhere/", "secret", "dispatch-secret-0123"),
                      admin)
                  .is(422, "dispatch_not_allowed");
              secrets.add("dispatch-secret-0123");
              secrets.add(holdfast.store().admin().tokenKeys().getFirst().secret());
            });
    assertThat(log).contains("came too late");
    for (String secret : secrets) {
      assertThat(log).doesNotContain(secret);
      // Nor the secret part alone: a key's secret, a token's signature.
      assertThat(log).doesNotContain(secret.substring(secret.length() - 20));
    }
  }

  private static Map<String, Object> done() {
    return Map.of("attempt", 1, "workerId", "w", "outcome", "SUCCEEDED");
  }

  private static String logged(Runnable action) {
    try (CapturedLog log = CapturedLog.ofEverything()) {
      action.run();
      return log.text();
    }
  }

  @Test
  void a_page_of_an_allowed_host_name_may_call() {
    try (HoldfastServer named = another(options -> options.allowedHosts(Set.of("jobs.example")))) {
      Client there = new Client(named.url());
      // A page of another server on this machine may read, but not write.
      there
          .send(
              there
                  .request("/v1/workers/pause", null)
                  .header("Origin", "http://127.0.0.1:1")
                  .POST(HttpRequest.BodyPublishers.noBody()))
          .is(403, "origin_not_allowed");
      there.send(there.request("/v1/jobs", null).header("Origin", "http://127.0.0.1:1").GET()).ok();
      there
          .send(there.request("/v1/jobs", null).header("Origin", "http://jobs.example").GET())
          .is(403, "origin_not_allowed");
    }
  }
}
