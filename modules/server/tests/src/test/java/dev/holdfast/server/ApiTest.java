package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.ApiKey;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.RetryDefaults;
import dev.holdfast.model.Role;
import dev.holdfast.queue.Queue;
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
abstract class ApiTest {
  static final String QUEUE = "work";

  final TestDatabase db;
  final Holdfast holdfast;
  final Client client;
  RunningServer server;

  ApiTest(TestDatabase db) {
    this.db = db;
    this.holdfast =
        Holdfast.on(db.dataSource(), new JacksonCodec(), Queue.Options.DEFAULT.retries(retries()));
    this.server = startServer();
    this.client = new Client(server.url());
  }

  /** Called by the constructor: only the fields above are set. */
  abstract RunningServer startServer();

  /** Called by the constructor. */
  RetryDefaults retries() {
    return RetryDefaults.NONE;
  }

  @BeforeEach
  void isUp() {
    assertThat(server.url().getPort()).isPositive();
  }

  @AfterEach
  void stop() {
    server.close();
    holdfast.close();
  }

  JobId enqueued() {
    return holdfast.enqueue(Job.of("echo").queue(QUEUE)).id();
  }

  static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  /** With everything that is only for its worker to know. */
  static Job brings(Job job) {
    return job.assetId("orders")
        .partitionKey("2026-11-17")
        .resources(Map.of("cpu", 2))
        .traceparent(TRACE);
  }

  /** A task, leased over HTTP. */
  JsonNode leased() {
    JsonNode tasks =
        client
            .post("/v1/queues/" + QUEUE + "/lease", Map.of("workerId", "w1"), null)
            .ok()
            .get("tasks");
    assertThat(tasks).hasSize(1);
    return tasks.get(0);
  }

  /** What a worker says when its attempt has failed. */
  static Map<String, Object> failedBody(int attempt, Map<String, ?> error) {
    return Map.of("attempt", attempt, "workerId", "w1", "outcome", "FAILED", "error", error);
  }

  Client.Reply callback(JsonNode task, String callback, Object body) {
    return client.post(
        "/v1/tasks/" + task.get("taskId").asText() + "/" + callback,
        body,
        task.get("taskToken").asText());
  }

  /** The text of a new key. */
  String key(Role role, String tenant) {
    Secrets.Parts parts = Secrets.next();
    holdfast
        .queue()
        .createKey(
            new ApiKey(parts.id(), "test", role, tenant, Instant.EPOCH, null, null),
            parts.digest(),
            null);
    assertThat(holdfast.queue().validKey(parts.id())).isPresent();
    return parts.text();
  }

  String state(JobId job) {
    @Nullable String state =
        db.queryOne(String.class, "SELECT state::text FROM holdfast.job WHERE id = ?", job.value());
    return String.valueOf(state);
  }
}
