package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.server.ServerTest;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;

/** An HTTP worker to which a server pushes tasks. */
abstract class PushFixture extends ServerTest {
  static final String SECRET = "a-secret-of-some-length";
  static final int REFUSED = 422;
  static final String SAID = "no column 'price', and " + SECRET + " is a secret";
  final BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
  final BlockingQueue<String> authorizations = new LinkedBlockingQueue<>();
  final BlockingQueue<String> traces = new LinkedBlockingQueue<>();
  final AtomicInteger asked = new AtomicInteger();
  final HttpServer worker;
  final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  volatile int status = 202;
  volatile int refusal = REFUSED;

  /** What the worker does with a task before it responds. */
  volatile Predicate<JsonNode> before = task -> true;

  PushFixture(TestDatabase db) {
    super(db);
    try {
      worker = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    worker.setExecutor(threads);
    worker.createContext("/tasks", this::receive);
    worker.createContext("/elsewhere", this::receive);
    worker.start();
  }

  @Override
  public UnaryOperator<ServerOptions> options() {
    return options -> options.dispatchTo(Set.of("127.0.0.1")).dispatchTimeout(answerWithin());
  }

  /** Longer than a worker on a busy machine takes; half a lease at most. */
  Duration answerWithin() {
    return Duration.ofSeconds(15);
  }

  static Map<String, Object> succeeded(JsonNode task) {
    return Map.of("attempt", task.get("attempt").asInt(), "workerId", "w9", "outcome", "SUCCEEDED");
  }

  void begun(JsonNode task) {
    callback(task, "started", Map.of("attempt", task.get("attempt").asInt(), "workerId", "w9"))
        .ok();
  }

  @AfterEach
  void stopWorker() {
    worker.stop(0);
    threads.shutdownNow();
  }

  void receive(HttpExchange exchange) throws IOException {
    asked.incrementAndGet();
    authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
    traces.add(String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
    JsonNode task = Wire.tree(exchange.getRequestBody().readAllBytes());
    int answer = before.test(task) ? status : refusal;
    if (answer >= 300 && answer < 400) {
      exchange.getResponseHeaders().add("Location", "/elsewhere");
    }
    byte[] said = answer < 400 ? new byte[0] : SAID.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(answer, said.length == 0 ? -1 : said.length);
    exchange.getResponseBody().write(said);
    exchange.close();
    if (answer < 300) {
      received.add(task);
    }
  }

  void dispatch(int maxInFlight) {
    holdfast
        .admin()
        .dispatch(
            new Dispatch(
                QUEUE,
                URI.create("http://127.0.0.1:" + worker.getAddress().getPort() + "/tasks"),
                SECRET,
                maxInFlight));
  }

  JsonNode pushed() throws InterruptedException {
    JsonNode task = received.poll(SOON.toSeconds(), TimeUnit.SECONDS);
    assertThat(task).isNotNull();
    return Objects.requireNonNull(task);
  }

  static void waitFor(CountDownLatch latch) {
    try {
      assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  String problems() {
    return client.get("/v1/info", null).ok().get("problems").toString();
  }
}
