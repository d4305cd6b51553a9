package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers of one database behind a balancer that knows nothing of sessions. */
@OnlyWithRelease
@Durable
@ExtendWith(WorldExtension.class)
class BalancedServersTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final World world;

  BalancedServersTest(World world) {
    this.world = world;
  }

  private List<ChildProcess> servers() {
    return List.of(server(), server());
  }

  private ChildProcess server() {
    return world
        .launch("server")
        .env("HOLDFAST_DISPATCH_ALLOW", "127.0.0.1")
        .env("HEARTBEAT_INTERVAL_MS", "1000")
        .env("HEARTBEAT_TIMEOUT_MS", "20000")
        .start();
  }

  private static int port(ChildProcess server) {
    return Integer.parseInt(
        server.awaitLine("^ready: .* at http://127.0.0.1:(\\d+)", SOON).group(1));
  }

  private static Balancer before(List<ChildProcess> servers) throws IOException {
    return new Balancer(servers.stream().map(BalancedServersTest::port).toList());
  }

  /** On a connection of its own, and so on the next server. */
  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private static HttpRequest.Builder request(Balancer balancer, String path) {
    return HttpRequest.newBuilder(URI.create(balancer.url() + path));
  }

  private static HttpRequest.Builder post(HttpRequest.Builder request, String method, Object body)
      throws IOException {
    return request
        .header("Content-Type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)));
  }

  @Test
  void a_session_of_one_server_is_good_for_all() throws Exception {
    String key = world.launch("keys", "create", "--role", "admin").run().out().getFirst().strip();
    try (Balancer balancer = before(servers())) {
      HttpResponse<String> in =
          send(post(request(balancer, "/v1/session"), "POST", Map.of("key", key)));
      assertThat(in.statusCode()).isEqualTo(200);
      String cookie = in.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];
      for (int i = 0; i < 6; i++) {
        HttpResponse<String> jobs = send(request(balancer, "/v1/jobs").header("Cookie", cookie));
        assertThat(jobs.statusCode()).isEqualTo(200);
      }
      assertThat(send(request(balancer, "/v1/jobs")).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void a_live_stream_goes_on_at_the_other_server_when_its_own_dies() throws Exception {
    List<ChildProcess> servers = servers();
    HttpClient http = HttpClient.newHttpClient();
    try (Balancer balancer = before(servers)) {
      JobId before = world.enqueue("nobody", Map.of());
      Stream first = new Stream(http, balancer, Optional.empty());
      first.awaitJob(before);
      // The balancer begins with the first one.
      servers.getFirst().signal("KILL");
      JobId meanwhile = world.enqueue("nobody", Map.of());

      Stream second = new Stream(http, balancer, Optional.of(first.lastId));
      second.awaitJob(meanwhile);
      assertThat(second.events).first().isEqualTo("reset");
      assertThat(second.jobs).contains(before.toString());
    } finally {
      http.shutdownNow(); // a close would wait for the end of the stream
    }
  }

  /** Reads on the calling thread. */
  private static final class Stream {
    private final BufferedReader reader;
    private final List<String> events = new ArrayList<>();
    private final List<String> jobs = new ArrayList<>();
    private String lastId = "";

    Stream(HttpClient http, Balancer balancer, Optional<String> lastId) throws Exception {
      HttpRequest.Builder request = request(balancer, "/v1/events?topics=queue:jobs");
      lastId.ifPresent(id -> request.header("Last-Event-ID", id));
      reader =
          new BufferedReader(
              new InputStreamReader(
                  http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream()).body(),
                  StandardCharsets.UTF_8));
    }

    void awaitJob(JobId job) throws IOException {
      while (!jobs.contains(job.toString())) {
        String line = reader.readLine();
        assertThat(line).isNotNull();
        if (line.startsWith("id: ")) {
          lastId = line.substring(4);
        } else if (line.startsWith("event: ")) {
          events.add(line.substring(7));
        } else if (line.startsWith("data: ")) {
          for (JsonNode each : JSON.readTree(line.substring(6)).path("jobs")) {
            jobs.add(each.path("id").asText());
          }
        }
      }
    }
  }

  @Test
  void a_pushed_task_is_delivered_once_and_settled_through_any_server() throws Exception {
    Map<String, Integer> deliveries = new ConcurrentHashMap<>();
    HttpServer worker =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    try (Balancer balancer = before(servers())) {
      worker.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      worker.createContext("/", exchange -> work(exchange, balancer, deliveries));
      worker.start();
      String url = "http://127.0.0.1:" + worker.getAddress().getPort() + "/tasks";
      Map<String, Object> target =
          Map.of("url", url, "secret", "at-least-16-characters", "maxInFlight", 5);
      HttpResponse<String> set =
          send(post(request(balancer, "/v1/queues/pushed/dispatch"), "PUT", target));
      assertThat(set.statusCode()).describedAs(set.body()).isLessThan(300);
      List<Job> jobs =
          IntStream.range(0, 60).mapToObj(i -> Job.of("remote").queue("pushed")).toList();
      world.holdfast().enqueue(jobs);
      world.awaitAll(jobs.size());
      assertThat(deliveries).hasSize(jobs.size()).allSatisfy((task, n) -> assertThat(n).isOne());
    } finally {
      worker.stop(0);
    }
  }

  /** Accepts the task, and then completes it through the balancer. */
  private static void work(HttpExchange exchange, Balancer balancer, Map<String, Integer> seen)
      throws IOException {
    JsonNode task = JSON.readTree(exchange.getRequestBody());
    String id = task.get("taskId").asText();
    seen.merge(id, 1, Integer::sum);
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
    try {
      HttpResponse<String> answer =
          send(
              post(
                  request(balancer, "/v1/tasks/" + id + "/completed")
                      .header("Authorization", "Bearer " + task.get("taskToken").asText()),
                  "POST",
                  Map.of(
                      "attempt", task.get("attempt").asInt(),
                      "workerId", "pushed-to",
                      "outcome", "SUCCEEDED")));
      assertThat(answer.statusCode()).describedAs(answer.body()).isEqualTo(200);
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  @Test
  void a_worker_behind_the_balancer_survives_the_death_of_a_server() throws Exception {
    List<ChildProcess> servers = servers();
    try (Balancer balancer = before(servers)) {
      world.worker("--server", balancer.url(), "--examples").start();
      world.await(world.enqueue("echo", Map.of("n", 1)), JobState.SUCCEEDED);
      servers.getFirst().signal("KILL");
      for (int i = 0; i < 20; i++) {
        world.enqueue("echo", Map.of("n", i));
      }
      world.awaitAll(21);
      assertThat(world.count("SELECT count(*) FROM holdfast.job WHERE attempt <> 1")).isZero();
    }
  }
}
