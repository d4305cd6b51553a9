package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Enqueues jobs over HTTP: their fields, conflicts, traces and idempotency keys. */
public class EnqueueTest extends JobsFixture {
  private static final String JSON = "application/json";

  private static final String OTHER_TRACE =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-00";

  EnqueueTest(TestDatabase db) {
    super(db);
  }

  private Client.Reply raw(String path, String body) {
    return client.send(
        client
            .request(path, null)
            .header("Content-Type", JSON)
            .POST(BodyPublishers.ofString(body)));
  }

  private Client.Reply once(String key, Object body) {
    return client.send(
        client
            .request("/v1/jobs", null)
            .header("Content-Type", JSON)
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofByteArray(Wire.write(body))));
  }

  // ---- enqueueing

  @Test
  void a_job_is_enqueued_with_every_field() {
    String first = created(Map.of("kind", "first")).get("id").asText();
    JobId id = JobId.next();
    JobId run = JobId.next();
    Client.Reply reply =
        raw(
            "/v1/jobs",
            """
                {"id": "%s", "kind": "clip", "payload": {"in": "a.mp4", "at": 1.50}, "queue": "media",
                 "priority": 2, "delayMs": 60000, "maxAttempts": 7, "maxCrashes": 1,
                 "timeout_ms": 5000, "deadline": "2999-01-01T00:00:00Z", "tenant": "acme",
                 "workspace": "w", "runId": "%s", "runKey": "cut", "parentId": "%s", "dependsOn": ["%s"],
                 "whenDependencyFails": "RUN", "uniqueKey": "u", "uniqueStates": ["PENDING", "WAITING"],
                 "uniqueWindowMs": 1000, "concurrencyKey": "c", "concurrencyLimit": 3,
                 "assetId": "orders", "partition_key": "2026-11-17", "resources": {"cpu": 1.50},
                 "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
                """
                .formatted(id, run, first, first));
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(201);
    JsonNode answer = reply.body();
    assertThat(answer.get("id").asText()).isEqualTo(id.toString());
    assertThat(answer.get("duplicate").asBoolean()).isFalse();

    JsonNode job = client.get("/v1/jobs/" + id, null).ok();
    assertThat(job.get("kind").asText()).isEqualTo("clip");
    assertThat(job.get("payload").toString()).isEqualTo("{\"at\":1.50,\"in\":\"a.mp4\"}");
    assertThat(job.get("queue").asText()).isEqualTo("media");
    assertThat(job.get("state").asText()).isEqualTo("WAITING");
    assertThat(job.get("priority").asInt()).isEqualTo(2);
    assertThat(job.get("maxAttempts").asInt()).isEqualTo(7);
    assertThat(job.get("maxCrashes").asInt()).isEqualTo(1);
    assertThat(job.get("deadline").asText()).startsWith("2999-01-01");
    assertThat(job.get("tenant").asText()).isEqualTo("acme");
    assertThat(job.get("workspace").asText()).isEqualTo("w");
    assertThat(job.get("runId").asText()).isEqualTo(run.toString());
    assertThat(job.get("runKey").asText()).isEqualTo("cut");
    assertThat(job.get("parentId").asText()).isEqualTo(first);
    assertThat(job.get("uniqueKey").asText()).isEqualTo("u");
    assertThat(job.get("concurrencyKey").asText()).isEqualTo("c");
    assertThat(job.get("assetId").asText()).isEqualTo("orders");
    assertThat(job.get("partitionKey").asText()).isEqualTo("2026-11-17");
    assertThat(job.get("resources").toString()).isEqualTo("{\"cpu\":1.50}");
    assertThat(job.get("traceparent").asText()).isEqualTo(TRACE);
  }

  @Test
  void many_jobs_are_enqueued_together_or_not_at_all() {
    JsonNode answer =
        created(Map.of("jobs", List.of(Map.of("kind", "a"), Map.of("kind", "b", "priority", 0))));
    assertThat(answer.get("jobs")).hasSize(2);
    client
        .post(
            "/v1/jobs",
            Map.of("jobs", List.of(Map.of("kind", "a"), Map.of("kind", "b", "priority", 10))),
            null)
        .is(422, "bad_priority");
    assertThat(jobs()).isEqualTo(2);
  }

  @Test
  void a_unique_key_that_an_open_transaction_holds_is_a_conflict() throws SQLException {
    try (Connection open = db.dataSource().getConnection()) {
      open.setAutoCommit(false);
      holdfast.enqueue(open, List.of(Job.of("pay").uniqueKey("k")));
      Client.Reply refused =
          client
              .post("/v1/jobs", Map.of("kind", "pay", "uniqueKey", "k"), null)
              .is(409, "unique_key_held");
      assertThat(refused.response().headers().firstValue("Retry-After")).contains("1");
      assertThat(refused.body().get("message").asText()).contains("another open transaction");
    }
    assertThat(jobs()).isZero();
  }

  @Test
  void a_different_job_with_a_used_id_is_a_conflict() {
    String id = JobId.next().toString();
    Map<String, Object> job = Map.of("kind", "pay", "id", id, "payload", Map.of("cents", 100));
    created(job);
    assertThat(created(job).get("id").asText()).isEqualTo(id);
    client
        .post("/v1/jobs", Map.of("kind", "pay", "id", id, "payload", Map.of("cents", 200)), null)
        .is(409, "id_taken");
    client
        .post(
            "/v1/jobs",
            Map.of("jobs", List.of(Map.of("kind", "a"), Map.of("kind", "refund", "id", id))),
            null)
        .is(409, "id_taken");
    assertThat(jobs()).isEqualTo(1);
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      Job other = Job.of("refund").id(JobId.parse(id));
      assertThatThrownBy(() -> remote.jobs().enqueue(List.of(other)))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.ID_TAKEN))
          .hasMessageContaining(id);
    }
  }

  @Test
  void a_held_unique_key_is_answered_with_the_job_that_holds_it() {
    Map<String, Object> body = Map.of("kind", "report", "uniqueKey", "today");
    String id = created(body).get("id").asText();
    JsonNode second = created(body);
    assertThat(second.get("id").asText()).isEqualTo(id);
    assertThat(second.get("duplicate").asBoolean()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "not json | 400 | malformed_json",
        "[] | 422 | invalid_value",
        "null | 422 | invalid_value",
        "{} | 422 | missing_field",
        "{\"kind\": null} | 422 | missing_field",
        "{\"kind\": 7} | 422 | invalid_value",
        "{\"kind\": \"\"} | 422 | bad_name",
        "{\"kind\": \"a\", \"kindness\": 1} | 422 | unknown_field",
        "{\"kind\": \"a\", \"kind\": \"b\"} | 400 | malformed_json",
        "{\"kind\": \"a\", \"priority\": \"5\"} | 422 | invalid_value",
        "{\"kind\": \"a\", \"priority\": 5.5} | 422 | invalid_value",
        "{\"kind\": \"a\", \"delayMs\": -1} | 422 | bad_delay",
        "{\"kind\": \"a\", \"delayMs\": 1, \"runAt\": \"2030-01-01T00:00:00Z\"} | 422 | invalid_value",
        "{\"kind\": \"a\", \"runAt\": \"tomorrow\"} | 422 | invalid_value",
        "{\"kind\": \"a\", \"maxAttempts\": 0} | 422 | bad_budget",
        "{\"kind\": \"a\", \"timeoutMs\": 0} | 422 | bad_timing",
        "{\"kind\": \"a\", \"id\": \"x\"} | 400 | bad_id",
        "{\"kind\": \"a\", \"dependsOn\": [null]} | 422 | invalid_value",
        "{\"kind\": \"a\", \"dependsOn\": [\"018f0000-0000-7000-8000-000000000000\"]} | 422 | bad_dependency",
        "{\"kind\": \"a\", \"whenDependencyFails\": \"RUN\"} | 422 | invalid_value",
        "{\"kind\": \"a\", \"uniqueWindowMs\": 5} | 422 | invalid_value",
        "{\"kind\": \"a\", \"uniqueKey\": \"k\", \"uniqueStates\": [\"RUNNING\"]} | 422 | bad_unique",
        "{\"kind\": \"a\", \"concurrencyLimit\": 5} | 422 | invalid_value",
        "{\"kind\": \"a\", \"payload\": \"\\u0000\"} | 422 | payload_not_json",
        "{\"kind\": \"a\", \"assetId\": \" \"} | 422 | bad_key",
        "{\"kind\": \"a\", \"partitionKey\": 7} | 422 | invalid_value",
        "{\"kind\": \"a\", \"resources\": [1]} | 422 | bad_resources",
        "{\"kind\": \"a\", \"traceparent\": \"00-1-2-3\"} | 400 | bad_traceparent",
        "{\"jobs\": []} | 422 | invalid_value",
        "{\"jobs\": [null]} | 422 | invalid_value",
        "{\"jobs\": null} | 422 | missing_field",
        "{\"jobs\": [{\"kind\": \"a\"}], \"kind\": \"b\"} | 422 | unknown_field",
      })
  void an_invalid_job_is_rejected_with_its_error_name(String body, int status, String error) {
    raw("/v1/jobs", body).is(status, error);
    assertThat(jobs()).isZero();
  }

  // ---- traces

  private Client.Reply traced(Map<String, ?> body, String... headers) {
    HttpRequest.Builder request = client.request("/v1/jobs", null).header("Content-Type", JSON);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.POST(BodyPublishers.ofByteArray(Wire.write(body))));
  }

  private String trace(JsonNode enqueued) {
    return client
        .get("/v1/jobs/" + enqueued.get("id").asText(), null)
        .ok()
        .get("traceparent")
        .asText();
  }

  @Test
  void jobs_inherit_the_trace_of_the_request_unless_they_name_another() {
    assertThat(trace(traced(Map.of("kind", "a"), "traceparent", TRACE).created())).isEqualTo(TRACE);
    JsonNode many =
        traced(
                Map.of(
                    "jobs",
                    List.of(Map.of("kind", "a"), Map.of("kind", "b", "traceparent", OTHER_TRACE))),
                "Traceparent",
                TRACE)
            .created()
            .get("jobs");
    assertThat(trace(many.get(0))).isEqualTo(TRACE);
    assertThat(trace(many.get(1))).isEqualTo(OTHER_TRACE);
  }

  @Test
  void an_invalid_trace_header_is_ignored() {
    for (String header : List.of("nonsense", TRACE.toUpperCase(Locale.ROOT), TRACE + "-more")) {
      assertThat(trace(traced(Map.of("kind", "a"), "traceparent", header).created()))
          .isEqualTo("null");
    }
    JsonNode twice =
        traced(Map.of("kind", "a"), "traceparent", TRACE, "traceparent", OTHER_TRACE).created();
    assertThat(trace(twice)).isEqualTo("null");
  }

  @Test
  void a_request_repeated_in_another_span_is_the_same_submission() {
    Map<String, String> body = Map.of("kind", "a", "traceparent", TRACE);
    JsonNode first = once("k", body).created();
    assertThat(once("k", Map.of("kind", "a", "traceparent", OTHER_TRACE)).created())
        .isEqualTo(first);
    assertThat(
            traced(Map.of("kind", "a"), "Idempotency-Key", "k", "traceparent", OTHER_TRACE)
                .created())
        .isEqualTo(first);
    assertThat(jobs()).isEqualTo(1);
    assertThat(trace(first)).isEqualTo(TRACE);
  }

  @Test
  void a_client_of_the_library_enqueues_attributes_for_the_worker() {
    Job job =
        Job.of("a")
            .assetId("orders")
            .partitionKey("p")
            .resources(new Json("{\"cpu\":2}"))
            .traceparent(TRACE);
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      remote.jobs().enqueue(List.of(job));
      JobAttributes brought =
          new JobAttributes("orders", "p", new Json("{\"cpu\":2}"), TRACE, List.of());
      assertThat(remote.jobs().find(job.id()).orElseThrow().attributes()).isEqualTo(brought);
      assertThat(holdfast.find(job.id()).orElseThrow().attributes()).isEqualTo(brought);
    }
  }

  // ---- idempotency

  @Test
  void a_repeated_request_under_its_idempotency_key_is_answered_as_before_and_another_is_refused() {
    Map<String, Object> body = Map.of("kind", "pay", "payload", Map.of("cents", 100));
    Client.Reply first = once("order-7", body);
    assertThat(first.status()).isEqualTo(201);
    Client.Reply second = once("order-7", body);
    assertThat(second.status()).isEqualTo(201);
    assertThat(second.body()).isEqualTo(first.body());
    once("order-7", Map.of("kind", "pay", "payload", Map.of("cents", 200))).is(422, "key_reused");
    once("order-7", Map.of("jobs", List.of(body))).is(422, "key_reused");
    assertThat(once("order-8", body).body()).isNotEqualTo(first.body());
    assertThat(jobs()).isEqualTo(2);
  }

  @Test
  void an_invalid_idempotency_key_is_refused() {
    once("k".repeat(300), Map.of("kind", "pay")).is(422, "bad_key");
  }

  @Test
  void concurrent_requests_under_one_idempotency_key_enqueue_once() throws Exception {
    int senders = 8;
    CyclicBarrier together = new CyclicBarrier(senders);
    Callable<JsonNode> send =
        () -> {
          together.await();
          return once("same", Map.of("jobs", List.of(Map.of("kind", "a"), Map.of("kind", "b"))))
              .body();
        };
    Set<JsonNode> answers = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(senders)) {
      List<Future<JsonNode>> all =
          threads.invokeAll(IntStream.range(0, senders).mapToObj(i -> send).toList());
      for (Future<JsonNode> each : all) {
        answers.add(each.get());
      }
    }
    assertThat(answers).hasSize(1);
    assertThat(answers.iterator().next().get("jobs")).hasSize(2);
    assertThat(jobs()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "stat=FAILED",
        "state=BROKEN",
        "limit=0",
        "limit=201",
        "limit=ten",
        "limit=1&limit=2",
        "cursor=next",
        "kind=%00",
        "queue=a%20b",
        "tenant=%00",
        "q=",
        "q=%00",
        "createdAfter=yesterday",
        "createdBefore=2026-11-15",
        "createdAfter=-0001-01-01T00:00:00Z"
      })
  void an_invalid_filter_is_rejected(String query) {
    assertThat(client.get("/v1/jobs?" + query, null).status()).isEqualTo(422);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"ids\": []}",
        "{\"ids\": [null]}",
        "{\"filter\": {}}",
        "{\"filter\": {\"kind\": \"a\"}, \"ids\": [\"018f0000-0000-7000-8000-000000000000\"]}",
        "{\"filter\": {\"state\": \"SUCCEEDED\"}}",
        "{\"filter\": {\"tenants\": \"acme\"}}",
        "{\"filter\": {\"queue\": \"\\u0000\"}}"
      })
  void an_invalid_selection_of_jobs_is_rejected(String body) {
    assertThat(raw("/v1/jobs/cancel", body).status()).isEqualTo(422);
    assertThat(raw("/v1/jobs/retry", body).status()).isEqualTo(422);
  }
}
