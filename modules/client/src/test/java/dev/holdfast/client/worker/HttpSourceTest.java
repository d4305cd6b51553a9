package dev.holdfast.client.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.client.http.KeyRefusedException;
import dev.holdfast.contract.Reached;
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

/** What a worker makes of whatever a server, or something in front of it, answers. */
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
  void what_may_pass_is_waited_for(int status, String error) {
    assertThat(catchThrowable(() -> failing(status, error).heldBy("w")))
        .isExactlyInstanceOf(SourceUnavailableException.class)
        .hasMessageContaining(String.valueOf(status));
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 503})
  void a_start_waits_for_a_server_that_is_away_for_a_moment(int status) {
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

  private static Duration refusedAfter(HttpSource source, String message) {
    long start = System.nanoTime();
    assertThat(catchThrowable(() -> source.check(List.of("mail"), true)))
        .isInstanceOf(SourceUnavailableException.class)
        .hasMessageContaining(message);
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Test
  void a_start_is_refused_when_the_server_stays_away() {
    answering(503, "{\"error\":\"database_unavailable\",\"message\":\"because\"}");
    HttpSource source = HttpSource.to(url, null, Duration.ofMillis(600), Duration.ZERO);
    assertThat(refusedAfter(source, "the server at " + url + " answers 503"))
        .isGreaterThan(Duration.ofMillis(600));
  }

  @Test
  @Timeout(120)
  void a_start_waits_less_long_where_nobody_listens() {
    server.stop(0);
    HttpSource source = HttpSource.to(url, null, Duration.ofHours(1), Duration.ofMillis(600));
    assertThat(
            refusedAfter(
                source, "the server at " + url + " does not answer: the connection is refused"))
        .isGreaterThan(Duration.ofMillis(600));
  }

  @Test
  @Timeout(120)
  void a_start_does_not_wait_for_a_host_that_there_is_not() {
    Duration hour = Duration.ofHours(1);
    URI nowhere = URI.create("http://no-such-host.invalid");
    assertThat(
            refusedAfter(
                HttpSource.to(nowhere, null, hour, hour), "does not answer: there is no such host"))
        .isLessThan(hour);
  }

  @Test
  void who_does_not_answer_at_all_has_refused_nothing() {
    HttpConnectTimeoutException late = new HttpConnectTimeoutException("late");
    late.initCause(new ConnectException("late"));
    assertThat(Reached.by(new SourceUnavailableException("away", late))).isEqualTo(Reached.OTHER);
  }

  @Test
  void a_start_does_not_ask_again_with_a_key_that_is_refused() {
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

  /** One that holds this lease, and answers what is said of it so. */
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
  void what_was_not_taken_here_is_not_spoken_for_here() {
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
  void a_database_in_which_others_hold_what_is_needed_is_busy() {
    assertThat(catchThrowable(() -> failing(503, "database_busy").heldBy("w")))
        .isInstanceOf(SourceBusyException.class);
  }

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({
    "result_too_large, RESULT_TOO_LARGE",
    "bad_delay, BAD_DELAY",
    "invalid_value, RESULT_NOT_JSON",
  })
  void a_refusal_keeps_its_name(String error, Refusal refusal) {
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
  void a_key_that_is_not_accepted_is_said_with_what_to_do(int status) {
    assertThat(catchThrowable(() -> failing(status, "no").heldBy("w")))
        .isInstanceOf(KeyRefusedException.class)
        .hasMessageContaining("role worker")
        .hasMessageNotContaining("hf_secret");
  }

  @ParameterizedTest
  @CsvSource({"200, <html>Welcome</html>", "200, null", "404, {}", "500, {}", "302, {}"})
  void something_else_at_the_address_is_neither_an_answer_nor_waited_for(int status, String body) {
    assertThat(catchThrowable(() -> answering(status, body).heldBy("w")))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void a_server_may_say_more_than_its_worker_knows() {
    assertThat(answering(200, "{\"leases\":[],\"more\":{\"x\":1}}").heldBy("w")).isEmpty();
  }

  @Test
  void a_request_that_came_later_than_its_worker_is_left_alone() {
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
  void something_else_at_the_address_is_no_patch(int status, String body) {
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
  void a_step_with_a_patch_that_is_not_answered_is_not_told() {
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
  void fewer_answers_than_settlements_are_no_answer() {
    Lease lease = new Lease(JobId.next(), 1);
    Settlement settlement = new Settlement.Succeed(lease, null);
    HttpSource source = holding(lease, 200, "{\"acks\":[\"ACCEPTED\"]}");
    assertThatThrownBy(() -> source.settle(List.of(settlement, settlement)))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"jobs.example.org", "ftp://x", "http://user:pass@x", "http://x?a=pass"})
  void an_address_that_is_none_is_refused_and_not_shown(String address) {
    assertThatThrownBy(() -> HttpSource.to(URI.create(address), null))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("pass");
  }

  @Test
  void a_worker_needs_nothing_that_tokens_are_made_with() throws Exception {
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
