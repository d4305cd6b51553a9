package dev.holdfast.server;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.contract.token.Secrets;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.Role;
import dev.holdfast.queue.JobStore;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A server on a database of its own, and a client that checks every answer against the API. */
@ExtendWith(DatabaseExtension.class)
public abstract class ApiTest {
  public static final String QUEUE = "work";

  public final TestDatabase db;
  public final Holdfast holdfast;
  public final Client client;
  public RunningServer server;

  @SuppressWarnings("this-escape")
  protected ApiTest(TestDatabase db) {
    this.db = db;
    this.holdfast =
        Holdfast.on(
            db.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.retries(retries()));
    this.server = startServer();
    this.client = new Client(server.url());
  }

  /** Called by the constructor: only the fields above are set. */
  public abstract RunningServer startServer();

  /** Called by the constructor. */
  public RetryDefaults retries() {
    return RetryDefaults.NONE;
  }

  @BeforeEach
  public void isUp() {
    assertThat(server.url().getPort()).isPositive();
  }

  @AfterEach
  public void stop() {
    server.close();
    holdfast.close();
  }

  public JobId enqueued() {
    return holdfast.enqueue(Job.of("echo").queue(QUEUE)).id();
  }

  public static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  /** With the fields that only its worker gets. */
  public static Job brings(Job job) {
    return job.assetId("orders")
        .partitionKey("2026-11-17")
        .resources(Map.of("cpu", 2))
        .traceparent(TRACE);
  }

  /** A task, leased over HTTP. */
  public JsonNode leased() {
    JsonNode tasks =
        client
            .post("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w1"), null)
            .ok()
            .get("tasks");
    assertThat(tasks).hasSize(1);
    return tasks.get(0);
  }

  /** The completion of a failed attempt. */
  public static Map<String, Object> failedBody(int attempt, Map<String, ?> error) {
    return Map.of("attempt", attempt, "workerId", "w1", "outcome", "FAILED", "error", error);
  }

  public Client.Reply callback(JsonNode task, String callback, Object body) {
    return client.post(
        "/v1/tasks/" + task.get("taskId").asText() + "/" + callback,
        body,
        task.get("taskToken").asText());
  }

  /** The text of a new key. */
  public String key(Role role, @Nullable String tenant) {
    Secrets.Parts parts = Secrets.next();
    holdfast
        .store()
        .admin()
        .createKey(
            new ApiKey(parts.id(), "test", role, tenant, Instant.EPOCH, null, null),
            parts.digest(),
            null);
    assertThat(holdfast.store().admin().validKey(parts.id())).isPresent();
    return parts.text();
  }

  /** The sum of the series of this name, or of the one of this name and these tags. */
  public double metric(String series) {
    return client
        .get("/metrics", null)
        .response()
        .body()
        .lines()
        .filter(each -> each.startsWith(series + " ") || each.startsWith(series + "{"))
        .mapToDouble(each -> Double.parseDouble(each.substring(each.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** What is scraped is up to a second old. */
  public void awaitMetric(String series, double expected) {
    await().atMost(SOON).untilAsserted(() -> assertThat(metric(series)).isEqualTo(expected));
  }

  public String state(JobId job) {
    @Nullable String state =
        db.queryOne(String.class, "SELECT state::text FROM holdfast.job WHERE id = ?", job.value());
    return String.valueOf(state);
  }
}
