package dev.holdfast.client.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.client.http.KeyRefusedException;
import dev.holdfast.contract.ConnectFailure;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpConnectTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How responses of a server, or of something in front of it, are translated for a worker. */
class HttpSourceTest {
  private final HttpServer server;
  private final URI url;

  HttpSourceTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.start();
    url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private HttpSource answering(int status, String body) {
    return answering("/", status, body);
  }

  private HttpSource answering(String path, int status, String body) {
    server.createContext(
        path,
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    return HttpSource.to(url, "hf_secret");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({
    "429, rate_limited",
    "502, ''",
    "503, database_unavailable",
    "503, stopping",
    "504, ''",
  })
  void a_temporary_error_is_reported_as_unavailable(int status, String error) {
    assertThat(catchThrowable(() -> failing(status, error).heldBy("w")))
        .isExactlyInstanceOf(SourceUnavailableException.class)
        .hasMessageContaining(String.valueOf(status));
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void a_start_waits_for_a_server_that_is_briefly_unavailable(int status) {
    AtomicInteger asked = new AtomicInteger();
    server.createContext(
        "/",
        exchange -> {
          byte[] body = "{\"depth\":0}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(asked.incrementAndGet() < 3 ? status : 200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    HttpSource.to(url, null).check(List.of("mail"), true);
    assertThat(asked).hasValue(3);
  }

  @Test
  void retry_after_delays_the_same_call_and_no_other() {
    AtomicInteger asked = new AtomicInteger();
    server.createContext(
        "/v1/leases",
        exchange -> {
          asked.incrementAndGet();
          exchange.getResponseHeaders().add("Retry-After", "30");
          exchange.sendResponseHeaders(429, -1);
          exchange.close();
        });
    HttpSource source = answering("/v1/queues/depth", 200, "{\"depth\":0}");
    for (String worker : List.of("w", "w", "another")) {
      assertThat(catchThrowable(() -> source.heldBy(worker)))
          .isExactlyInstanceOf(SourceUnavailableException.class)
          .hasMessageContaining("429");
    }
    assertThat(asked).hasValue(1);
    assertThat(source.depth(List.of("mail"), 1)).isZero();
  }

  private static Duration refusedAfter(HttpSource source, String message) {
    long start = System.nanoTime();
    assertThat(catchThrowable(() -> source.check(List.of("mail"), true)))
        .isInstanceOf(SourceUnavailableException.class)
        .hasMessageContaining(message);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void a_start_fails_when_the_server_stays_unavailable() {
    answering(503, "{\"error\":\"database_unavailable\",\"message\":\"because\"}");
    HttpSource source = HttpSource.to(url, null, Duration.ofMillis(600), Duration.ZERO);
    assertThat(refusedAfter(source, "the server at " + url + " answers 503"))
        .isGreaterThan(Duration.ofMillis(600));
  }

  @Test
  @Timeout(120)
  void a_start_waits_less_when_the_connection_is_refused() {
    server.stop(0);
    HttpSource source = HttpSource.to(url, null, Duration.ofHours(1), Duration.ofMillis(600));
    assertThat(
            refusedAfter(
                source, "the server at " + url + " does not answer: the connection is refused"))
        .isGreaterThan(Duration.ofMillis(600));
  }

  @Test
  @Timeout(120)
  void a_start_does_not_wait_for_an_unknown_host() {
    Duration hour = Duration.ofHours(1);
    URI nowhere = URI.create("http://no-such-host.invalid");
    assertThat(
            refusedAfter(
                HttpSource.to(nowhere, null, hour, hour), "does not answer: there is no such host"))
        .isLessThan(hour);
  }

  @Test
  void a_connect_timeout_is_not_a_refused_connection() {
    HttpConnectTimeoutException late = new HttpConnectTimeoutException("late");
    late.initCause(new ConnectException("late"));
    assertThat(ConnectFailure.of(new SourceUnavailableException("away", late)))
        .isEqualTo(ConnectFailure.OTHER);
  }

  @Test
  void a_start_does_not_retry_with_a_rejected_key() {
    AtomicInteger asked = new AtomicInteger();
    server.createContext(
        "/",
        exchange -> {
          asked.incrementAndGet();
          exchange.sendResponseHeaders(401, -1);
          exchange.close();
        });
    assertThat(catchThrowable(() -> HttpSource.to(url, "hf_x").check(List.of("mail"), true)))
        .isInstanceOf(KeyRefusedException.class);
    assertThat(asked).hasValue(1);
  }

  private HttpSource failing(int status, String error) {
    return answering(
        status,
        error.isEmpty()
            ? "<html>Bad gateway</html>"
            : "{\"error\":\"%s\",\"message\":\"because\"}".formatted(error));
  }

  /** A source with this lease, and a server with this response. */
  private HttpSource holding(Lease lease, int status, String body) {
    answering("/v1/leases/", status, body);
    HttpSource source =
        answering(
            200,
            "{\"leases\":[{\"taskId\":\"%s\",\"attempt\":%d,\"workerId\":\"w\"}]}"
                .formatted(lease.job(), lease.attempt()));
    assertThat(source.heldBy("w")).containsExactly(lease);
    return source;
  }

  @Test
  void calls_for_a_lease_that_was_not_claimed_here_return_lease_lost() {
    Lease lease = new Lease(JobId.next(), 1);
    HttpSource source = answering(500, "");
    assertThat(source.settle(List.of(new Settlement.Succeed(lease, null))))
        .containsExactly(Ack.LEASE_LOST);
    assertThat(source.report(List.of(new Report.Progress(lease, 5, null))))
        .containsExactly(Ack.LEASE_LOST);
    assertThat(source.heartbeat(List.of(lease), Duration.ofMinutes(1)))
        .containsExactly(new HeartbeatResult(lease, Ack.LEASE_LOST, null));
    assertThat(
            source.publish(
                new Publication(lease, "s", List.of(new Artifact("a", 1, "0".repeat(64))), null)))
        .isEqualTo(Ack.LEASE_LOST);
    assertThat(source.artifacts(lease)).isEmpty();
    assertThat(source.steps(lease)).isEmpty();
    assertThat(source.patch(lease, "s")).isEmpty();
    assertThat(source.succeeded(lease)).isFalse();
  }

  @Test
  void a_lock_conflict_in_the_database_is_reported_as_busy() {
    assertThat(catchThrowable(() -> failing(503, "database_busy").heldBy("w")))
        .isInstanceOf(SourceBusyException.class);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({
    "result_too_large, RESULT_TOO_LARGE",
    "bad_delay, BAD_DELAY",
    "invalid_value, RESULT_NOT_JSON",
  })
  void a_refusal_keeps_its_code(String error, Refusal refusal) {
    Lease lease = new Lease(JobId.next(), 1);
    Settlement settlement = new Settlement.Succeed(lease, null);
    HttpSource source =
        holding(lease, 422, "{\"error\":\"%s\",\"message\":\"because\"}".formatted(error));
    assertThat(catchThrowable(() -> source.settle(List.of(settlement))))
        .isInstanceOfSatisfying(
            RefusedException.class, refused -> assertThat(refused.refusal()).isEqualTo(refusal))
        .hasMessage("because");
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403})
  void a_rejected_key_is_reported_with_what_to_do(int status) {
    assertThat(catchThrowable(() -> failing(status, "no").heldBy("w")))
        .isInstanceOf(KeyRefusedException.class)
        .hasMessageContaining("role worker")
        .hasMessageNotContaining("hf_secret");
  }

  @ParameterizedTest
  @CsvSource({"200, <html>Welcome</html>", "200, null", "404, {}", "500, {}", "302, {}"})
  void a_response_of_another_server_is_a_permanent_error(int status, String body) {
    assertThat(catchThrowable(() -> answering(status, body).heldBy("w")))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void unknown_fields_of_a_newer_server_are_ignored() {
    assertThat(answering(200, "{\"leases\":[],\"more\":{\"x\":1}}").heldBy("w")).isEmpty();
  }

  @Test
  void an_unknown_command_of_a_newer_server_is_ignored() {
    Lease lease = new Lease(JobId.next(), 1);
    HttpSource source =
        holding(
            lease,
            200,
            """
            {"leases":[{"taskId":"%s","attempt":1,"ack":"ACCEPTED","liveControl":{"paused":true,
             "takeover":false,"heldBy":{"requestedBy":"bob","reason":"wait"},"recovery":{"action":"rewrite_step","stepId":"s","requestedBy":"ada",
             "reason":"odd","updatedAt":"2026-11-15T10:00:00Z"}}}]}"""
                .formatted(lease.job()));
    assertThat(source.heartbeat(List.of(lease), Duration.ofMinutes(1)).getFirst().pendingCommand())
        .isEqualTo(new PendingCommand(true, false, null, new PendingCommand.HeldBy("bob", "wait")));
  }

  @ParameterizedTest
  @CsvSource({"200, <html>Welcome</html>", "404, {}", "404, {\"error\":\"not_found\"}", "500, {}"})
  void a_response_of_another_server_is_not_read_as_a_patch(int status, String body) {
    Lease lease = new Lease(JobId.next(), 1);
    HttpSource source = holding(lease, status, body);
    assertThat(catchThrowable(() -> source.patch(lease, "s")))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void a_step_without_a_patch_has_none() {
    Lease lease = new Lease(JobId.next(), 1);
    HttpSource source = holding(lease, 404, "{\"error\":\"no_patch\",\"message\":\"because\"}");
    assertThat(source.patch(lease, "s")).isEmpty();
  }

  @Test
  void a_step_report_without_a_result_throws() {
    Lease lease = new Lease(JobId.next(), 1);
    Report.Step step =
        new Report.Step(
            lease,
            "s",
            1,
            StepState.DONE,
            1,
            false,
            null,
            Patch.of(new byte[] {1}),
            null,
            null,
            List.of());
    HttpSource source = holding(lease, 200, "{\"acks\":[]}");
    assertThatThrownBy(() -> source.report(List.of(step)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void fewer_results_than_settlements_throw() {
    Lease lease = new Lease(JobId.next(), 1);
    Settlement settlement = new Settlement.Succeed(lease, null);
    HttpSource source = holding(lease, 200, "{\"acks\":[\"ACCEPTED\"]}");
    assertThatThrownBy(() -> source.settle(List.of(settlement, settlement)))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"jobs.example.org", "ftp://x", "http://user:pass@x", "http://x?a=pass"})
  void an_invalid_address_is_refused_and_not_shown(String address) {
    assertThatThrownBy(() -> HttpSource.to(URI.create(address), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("pass");
  }

  @Test
  void a_worker_runs_without_the_jwt_library() throws Exception {
    answering(200, "{\"leases\":[]}");
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path", ""));
    List<URL> left = new ArrayList<>();
    for (String entry : path.split(File.pathSeparator, -1)) {
      if (!entry.contains("jwt")) {
        left.add(new File(entry).toURI().toURL());
      }
    }
    try (URLClassLoader worker =
        new URLClassLoader(left.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      assertThatThrownBy(() -> worker.loadClass("com.auth0.jwt.JWT"))
          .isInstanceOf(ClassNotFoundException.class);
      Class<?> type = worker.loadClass(HttpSource.class.getName());
      Object source = type.getMethod("to", URI.class, String.class).invoke(null, url, "key");
      assertThat(type.getMethod("heldBy", String.class).invoke(source, "w")).isEqualTo(List.of());
    }
  }
}
