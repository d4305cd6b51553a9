package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.Holdfast;
import dev.holdfast.app.cli.Terminal;
import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.config.ServerOptions;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How many requests a command sends to a server: a proxy in front of it counts them. */
@ExtendWith(DatabaseExtension.class)
class RequestsTest {
  private final HttpClient http = HttpClient.newHttpClient();
  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private TestDatabase database;
  private Holdfast holdfast;
  private HoldfastServer server;
  private HttpServer proxy;

  @BeforeEach
  void open(TestDatabase given) throws IOException {
    database = given;
    holdfast = Holdfast.on(database.dataSource());
    server = HoldfastServer.start(holdfast, ServerOptions.DEFAULT.port(0));
    proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    proxy.setExecutor(Executors.newCachedThreadPool());
    proxy.createContext(
        "/",
        exchange -> {
          requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          HttpRequest.Builder request =
              HttpRequest.newBuilder(URI.create(server.url() + exchange.getRequestURI().toString()))
                  .method(
                      exchange.getRequestMethod(),
                      HttpRequest.BodyPublishers.ofByteArray(
                          exchange.getRequestBody().readAllBytes()));
          String type = exchange.getRequestHeaders().getFirst("Content-Type");
          if (type != null) {
            request.header("Content-Type", type);
          }
          try {
            HttpResponse<byte[]> answer =
                http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
            exchange.getResponseBody().write(answer.body());
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
          exchange.close();
        });
    proxy.start();
  }

  @AfterEach
  void close() {
    proxy.stop(0);
    http.close();
    server.close();
    holdfast.close();
  }

  private String run(String... arguments) {
    requests.clear();
    Terminal.Answer answer =
        Terminal.run(
            Map.of("HOLDFAST_SERVER_URL", "http://127.0.0.1:" + proxy.getAddress().getPort()),
            List.of(arguments));
    assertThat(answer.code()).as("%s", answer.err()).isEqualTo(ExitCode.OK);
    return String.join("\n", answer.out());
  }

  @Test
  void a_job_is_shown_with_one_request() {
    JobId job = holdfast.enqueue(Job.of("send")).id();
    assertThat(run("jobs", "show", job.toString())).contains("send " + job, "created");
    assertThat(requests)
        .containsExactly("GET /v1/jobs/" + job + "?include=events,attempts,artifacts,dependencies");
  }

  @Test
  void a_search_that_no_request_may_have_is_refused_with_its_limit() {
    Terminal.Answer answer =
        Terminal.run(
            Map.of("HOLDFAST_SERVER_URL", "http://127.0.0.1:" + proxy.getAddress().getPort()),
            List.of("jobs", "list", "--search", "x".repeat(201)));
    assertThat(answer.code()).isEqualTo(ExitCode.REFUSED);
    assertThat(answer.err()).singleElement().asString().contains("1 to 200 characters");
  }

  @Test
  void many_jobs_are_cancelled_and_retried_with_one_request_per_thousand() {
    holdfast.enqueue(Stream.generate(() -> Job.of("send")).limit(JobFilter.MOST + 1).toList());
    assertThat(run("jobs", "cancel", "--kind", "send", "--dry-run"))
        .contains("1,001 jobs would be cancelled");
    assertThat(requests).hasSize(1);
    assertThat(run("jobs", "cancel", "--kind", "send")).contains("1,001 jobs cancelled");
    assertThat(requests).containsExactly("POST /v1/jobs/cancel", "POST /v1/jobs/cancel");
    assertThat(run("jobs", "retry", "--state", "CANCELLED")).contains("1,001 jobs requeued");
    assertThat(requests).containsExactly("POST /v1/jobs/retry", "POST /v1/jobs/retry");
  }
}
