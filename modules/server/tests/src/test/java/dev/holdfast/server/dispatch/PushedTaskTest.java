package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.server.Client;
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
import java.util.List;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

public class PushedTaskTest extends ServerTest {
  private static final String SECRET = "a-secret-of-some-length";
  private static final int REFUSED = 422;
  private static final String SAID = "no column 'price', and " + SECRET + " is a secret";

  private final BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> authorizations = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> traces = new LinkedBlockingQueue<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final HttpServer worker;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile int status = 202;

  /** What the worker does with a task before it answers. */
  private volatile Predicate<JsonNode> before = task -> true;

  PushedTaskTest(TestDatabase db) {
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
    return options ->
        options.dispatchTo(Set.of("127.0.0.1")).dispatchTimeout(Duration.ofMillis(600));
  }

  @AfterEach
  void stopWorker() {
    worker.stop(0);
    threads.shutdownNow();
  }

  private void receive(HttpExchange exchange) throws IOException {
    asked.incrementAndGet();
    authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
    traces.add(String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
    JsonNode task = Wire.tree(exchange.getRequestBody().readAllBytes());
    int answer = before.test(task) ? status : REFUSED;
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

  private void dispatch(int maxInFlight) {
    holdfast
        .admin()
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
    return Objects.requireNonNull(task);
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
    callback(task, "log", Map.of("attempt", 1, "lines", List.of("at work"))).ok();
    assertThat(client.get("/v1/jobs/" + job + "/log", null).ok().get("parts").get(0).get("text"))
        .hasToString("\"at work\\n\"");
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
  }

  @Test
  void what_a_job_brings_along_comes_with_the_task_and_its_trace_with_the_request()
      throws InterruptedException {
    dispatch(10);
    holdfast.enqueue(brings(Job.of("echo").queue(QUEUE)));
    JsonNode task = pushed();
    assertThat(task.get("assetId").asText()).isEqualTo("orders");
    assertThat(task.get("partitionKey").asText()).isEqualTo("2026-11-17");
    assertThat(task.get("resources").toString()).isEqualTo("{\"cpu\":2}");
    assertThat(task.get("traceparent").asText()).isEqualTo(TRACE);
    assertThat(traces.take()).isEqualTo(TRACE);
    enqueued();
    assertThat(pushed().has("traceparent")).isFalse();
    assertThat(traces.take()).isEqualTo("null");
  }

  @Test
  void what_operators_ask_comes_with_the_task() throws InterruptedException {
    JobId job = enqueued();
    holdfast.jobs().command(job, new JobCommand(CommandAction.PAUSE, null, "ada", "wait"), null);
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

  private static void waitFor(CountDownLatch latch) {
    try {
      assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void begun(JsonNode task) {
    callback(task, "started", Map.of("attempt", task.get("attempt").asInt(), "workerId", "w9"))
        .ok();
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_worker_that_has_started_keeps_its_task_however_long_it_takes_to_answer()
      throws InterruptedException {
    BlockingQueue<JsonNode> started = new LinkedBlockingQueue<>();
    CountDownLatch end = new CountDownLatch(1);
    before =
        task -> {
          begun(task);
          started.add(task);
          waitFor(end);
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    JsonNode task = started.poll(SOON.toSeconds(), TimeUnit.SECONDS);
    assertThat(task).isNotNull();
    // Longer than all tries together would be waited for.
    await().during(Duration.ofSeconds(4)).atMost(SOON).until(() -> asked.get() == 1);
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    assertThat(holdfast.queries().attempts(job)).hasSize(1);
    // The request was kept open meanwhile: its answer arrives.
    end.countDown();
    assertThat(pushed().get("taskId").asText()).isEqualTo(job.toString());
  }

  @Test
  void an_error_after_the_start_takes_nothing_back() {
    status = 500;
    before =
        task -> {
          begun(task);
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> asked.get() == 1);
    await().during(Duration.ofSeconds(2)).atMost(SOON).until(() -> asked.get() == 1);
    assertThat(state(job)).isEqualTo("RUNNING");
  }

  @Test
  void a_start_that_is_refused_ends_the_push() {
    status = 500;
    before =
        task -> {
          holdfast
              .jobs()
              .cancel(
                  JobId.parse(task.get("taskId").asText()), false, "enough", Duration.ofHours(1));
          callback(task, "started", Map.of("attempt", 1, "workerId", "w9"))
              .is(409, "task_already_terminal");
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> state(job).equals("CANCELLED"));
    await().during(Duration.ofSeconds(2)).atMost(SOON).until(() -> asked.get() == 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 409, 413, 422})
  void a_worker_that_refuses_a_task_for_good_is_not_asked_again(int refusal) {
    status = refusal;
    dispatch(1);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> state(job).equals("FAILED"));
    assertThat(asked).hasValue(1);
    Failure failure = Objects.requireNonNull(holdfast.find(job).orElseThrow().failure());
    assertThat(failure.code()).isEqualTo("DISPATCH_REFUSED");
    assertThat(failure.message())
        .contains("status " + refusal, "no column 'price'")
        .doesNotContain(SECRET);
    assertThat(holdfast.queries().attempts(job)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500})
  @Execution(ExecutionMode.CONCURRENT)
  void a_worker_that_cannot_take_a_task_now_is_asked_again(int refusal)
      throws InterruptedException {
    status = refusal;
    dispatch(1);
    enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 2);
    status = 200;
    pushed();
  }

  @Test
  void tasks_that_are_refused_do_not_stop_the_others() throws InterruptedException {
    before = task -> !task.get("kind").asText().equals("bad");
    for (int i = 0; i < 8; i++) {
      holdfast.enqueue(Job.of("bad").queue(QUEUE));
    }
    JobId good = enqueued();
    dispatch(1);
    assertThat(pushed().get("taskId").asText()).isEqualTo(good.toString());
    assertThat(asked).hasValue(9);
    assertThat(problems()).doesNotContain("dispatch");
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_worker_that_answers_too_late_and_never_started_is_told_what_became_of_its_task()
      throws InterruptedException {
    BlockingQueue<JsonNode> taken = new LinkedBlockingQueue<>();
    CountDownLatch end = new CountDownLatch(1);
    before =
        task -> {
          taken.add(task);
          waitFor(end);
          return true;
        };
    dispatch(1);
    JobId job = enqueued();
    JsonNode task = Objects.requireNonNull(taken.poll(SOON.toSeconds(), TimeUnit.SECONDS));
    await().atMost(SOON).until(() -> state(job).equals("PENDING"));
    Client.Reply late = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w9"));
    late.is(410, "task_expired");
    assertThat(late.body().get("reason").asText()).isEqualTo("DISPATCH_FAILED");
    assertThat(late.body().get("message").asText()).doesNotContain("heartbeat timeout");
    end.countDown();
    assertThat(holdfast.find(job).orElseThrow().crashes()).isZero();
  }

  private String problems() {
    return client.get("/v1/info", null).ok().get("problems").toString();
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_worker_that_is_not_there_is_told_until_it_is() throws InterruptedException {
    status = 503;
    dispatch(10);
    enqueued();
    await().atMost(SOON).until(() -> problems().contains("dispatch_failing"));
    assertThat(problems()).contains("status 503").doesNotContain("start a worker");
    status = 200;
    pushed();
    await().atMost(SOON).until(() -> !problems().contains("dispatch_"));
    InetSocketAddress gone = worker.getAddress();
    worker.stop(0);
    enqueued();
    await().atMost(SOON).until(() -> problems().contains("dispatch_unreachable"));
    assertThat(problems())
        .contains("the connection is refused")
        .doesNotContain(gone.getHostString());
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_refused_secret_is_told_and_fails_a_few_tasks_and_not_all() throws InterruptedException {
    status = 401;
    for (int i = 0; i < 30; i++) {
      enqueued();
    }
    dispatch(1);
    await()
        .atMost(SOON)
        .until(
            () ->
                problems().contains("dispatch_secret_refused")
                    && problems().contains("circuit breaker"));
    assertThat(db.queryOne(Long.class, "SELECT count(*) FROM holdfast.job WHERE state = 'FAILED'"))
        .isLessThan(20L);
    // Another secret, and it goes on at once.
    status = 200;
    dispatch(2);
    pushed();
    await().atMost(SOON).until(() -> !problems().contains("dispatch_"));
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
        .admin()
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
    assertThat(problems()).contains("dispatch_not_allowed", "HOLDFAST_DISPATCH_ALLOW");
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
