package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.contract.Wire;
import dev.holdfast.model.ControlAction;
import dev.holdfast.model.ControlCommand;
import dev.holdfast.model.Dispatch;
import dev.holdfast.model.JobId;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

class PushTest extends ServerTest {
  private static final String SECRET = "a-secret-of-some-length";

  private final BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> authorizations = new LinkedBlockingQueue<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final HttpServer worker;
  private volatile int status = 202;

  PushTest(TestDatabase db) {
    super(db);
    try {
      worker = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    worker.createContext("/tasks", this::receive);
    worker.createContext("/elsewhere", this::receive);
    worker.start();
  }

  @Override
  UnaryOperator<ServerOptions> options() {
    return options -> options.dispatchTo(Set.of("127.0.0.1"));
  }

  @AfterEach
  void stopWorker() {
    worker.stop(0);
  }

  private void receive(HttpExchange exchange) throws IOException {
    asked.incrementAndGet();
    authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
    byte[] body = exchange.getRequestBody().readAllBytes();
    int answer = status;
    if (answer >= 300 && answer < 400) {
      exchange.getResponseHeaders().add("Location", "/elsewhere");
    }
    exchange.sendResponseHeaders(answer, -1);
    exchange.close();
    if (answer < 300) {
      received.add(Wire.tree(body));
    }
  }

  private void dispatch(int maxInFlight) {
    holdfast
        .queue()
        .dispatch(
            new Dispatch(
                QUEUE,
                URI.create("http://127.0.0.1:" + worker.getAddress().getPort() + "/tasks"),
                SECRET,
                maxInFlight));
  }

  private JsonNode pushed() throws InterruptedException {
    JsonNode task = received.poll(SOON.toSeconds(), TimeUnit.SECONDS);
    assertThat(task).isNotNull();
    return java.util.Objects.requireNonNull(task);
  }

  private static Map<String, Object> succeeded(JsonNode task) {
    return Map.of("attempt", task.get("attempt").asInt(), "workerId", "w9", "outcome", "SUCCEEDED");
  }

  @Test
  void a_task_is_posted_with_the_secret_and_completed_by_callback() throws InterruptedException {
    dispatch(10);
    JobId job = enqueued();
    JsonNode task = pushed();
    assertThat(task.get("taskId").asText()).isEqualTo(job.toString());
    assertThat(authorizations.take()).isEqualTo("Bearer " + SECRET);
    callback(task, "started", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
  }

  @Test
  void what_operators_ask_comes_with_the_task() throws InterruptedException {
    JobId job = enqueued();
    holdfast
        .queue()
        .control(job, new ControlCommand(ControlAction.PAUSE, null, "ada", "wait"), null);
    dispatch(10);
    assertThat(pushed().get("liveControl").get("paused").asBoolean()).isTrue();
  }

  @Test
  void no_more_than_the_limit_are_in_flight_and_the_next_comes_when_one_has_ended()
      throws InterruptedException {
    dispatch(2);
    for (int i = 0; i < 5; i++) {
      enqueued();
    }
    JsonNode first = pushed();
    pushed();
    await().during(Duration.ofMillis(1500)).atMost(SOON).until(() -> asked.get() == 2);
    callback(first, "completed", succeeded(first)).ok();
    assertThat(pushed().get("taskId")).isNotEqualTo(first.get("taskId"));
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_worker_that_refuses_gets_it_again_and_the_budget_is_not_touched()
      throws InterruptedException {
    status = 503;
    dispatch(1);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 3);
    status = 200;
    JsonNode task = pushed();
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    assertThat(holdfast.find(job).orElseThrow().failures()).isZero();
  }

  @Test
  void redirects_are_not_followed() {
    status = 307;
    dispatch(1);
    enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 3);
    assertThat(received).isEmpty();
  }

  @Test
  void a_host_that_is_not_on_the_list_is_never_called() {
    holdfast
        .queue()
        .dispatch(
            new Dispatch(
                QUEUE,
                URI.create("http://localhost:" + worker.getAddress().getPort() + "/tasks"),
                SECRET,
                1));
    JobId job = enqueued();
    await()
        .during(Duration.ofSeconds(2))
        .atMost(SOON)
        .until(() -> asked.get() == 0 && state(job).equals("PENDING"));
  }

  @Test
  void the_list_knows_hosts_and_ports_and_nothing_but_http() {
    DispatchAllowList list = new DispatchAllowList(Set.of("Worker.example", "10.0.0.1:8080"));
    for (String url :
        List.of("http://worker.example/x", "https://WORKER.example:99/", "http://10.0.0.1:8080/")) {
      assertThat(list.allows(URI.create(url))).as(url).isTrue();
    }
    for (String url :
        List.of(
            "http://10.0.0.1/",
            "http://other.example/",
            "ftp://worker.example/",
            "file:///etc/passwd",
            "http://me@worker.example/",
            "http://worker.example/#x",
            "http://worker.example.evil/",
            "worker.example")) {
      assertThat(list.allows(URI.create(url))).as(url).isFalse();
    }
  }
}
