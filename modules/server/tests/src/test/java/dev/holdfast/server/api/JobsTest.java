package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobAttributes;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
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

/** Handing in, looking at, cancelling and putting back jobs. */
public class JobsTest extends ServerTest {
  private static final String JSON = "application/json";
  private static final String OTHER_TRACE =
      "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-00";

  JobsTest(TestDatabase db) {
    super(db);
  }

  private JsonNode created(Object body) {
    Client.Reply reply = client.post("/v1/jobs", body, null);
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(201);
    return reply.body();
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

  private long jobs() {
    return db.count("SELECT count(*) FROM holdfast.job");
  }

  private List<String> ids(String path) {
    List<String> ids = new ArrayList<>();
    client.get(path, null).ok().get("jobs").forEach(job -> ids.add(job.get("id").asText()));
    return ids;
  }

  // ---- handing in

  @Test
  void a_job_is_handed_in_with_everything_it_can_have() {
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
  void many_jobs_are_handed_in_together_or_not_at_all() {
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
  void another_job_of_an_id_that_is_taken_is_a_conflict() {
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
      assertThatThrownBy(() -> remote.enqueue(List.of(other)))
          .isInstanceOfSatisfying(
              RefusedException.class,
              refused -> assertThat(refused.refusal()).isEqualTo(Refusal.ID_TAKEN))
          .hasMessageContaining(id);
    }
  }

  @Test
  void a_unique_key_that_is_held_gives_the_job_that_holds_it() {
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
  void what_is_wrong_is_refused_with_a_name_and_a_sentence(String body, int status, String error) {
    raw("/v1/jobs", body).is(status, error);
    assertThat(jobs()).isZero();
  }

  // ---- the trace it belongs to

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
  void the_trace_of_a_request_goes_on_with_its_jobs_unless_they_name_another() {
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
  void a_header_that_is_no_trace_is_passed_over() {
    for (String header : List.of("nonsense", TRACE.toUpperCase(Locale.ROOT), TRACE + "-more")) {
      assertThat(trace(traced(Map.of("kind", "a"), "traceparent", header).created()))
          .isEqualTo("null");
    }
    JsonNode twice =
        traced(Map.of("kind", "a"), "traceparent", TRACE, "traceparent", OTHER_TRACE).created();
    assertThat(trace(twice)).isEqualTo("null");
  }

  @Test
  void a_submission_that_is_sent_again_in_another_span_is_the_same() {
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
  void a_client_of_the_library_hands_in_what_its_worker_shall_know() {
    Job job =
        Job.of("a")
            .assetId("orders")
            .partitionKey("p")
            .resources(new Json("{\"cpu\":2}"))
            .traceparent(TRACE);
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      remote.enqueue(List.of(job));
      JobAttributes brought = new JobAttributes("orders", "p", new Json("{\"cpu\":2}"), TRACE);
      assertThat(remote.find(job.id()).orElseThrow().attributes()).isEqualTo(brought);
      assertThat(holdfast.find(job.id()).orElseThrow().attributes()).isEqualTo(brought);
    }
  }

  // ---- once

  @Test
  void the_same_submission_under_its_key_is_answered_as_before_and_another_one_is_refused() {
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
  void a_key_that_is_none_is_refused() {
    once("k".repeat(300), Map.of("kind", "pay")).is(422, "bad_key");
  }

  @Test
  void many_that_come_at_the_same_moment_under_one_key_make_one_submission() throws Exception {
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

  // ---- looking

  @Test
  void pages_are_complete_and_repeat_nothing_while_jobs_are_added() {
    Set<String> before = new HashSet<>();
    holdfast
        .enqueue(IntStream.range(0, 25).mapToObj(i -> Job.of("old")).toList())
        .forEach(job -> before.add(job.id().toString()));
    List<String> seen = new ArrayList<>();
    String cursor = "";
    int pages = 0;
    do {
      JsonNode page = client.get("/v1/jobs?limit=7" + cursor, null).ok();
      page.get("jobs").forEach(job -> seen.add(job.get("id").asText()));
      cursor = page.has("next") ? "&cursor=" + page.get("next").asText() : "";
      holdfast.enqueue(List.of(Job.of("new"), Job.of("new")));
      pages++;
    } while (!cursor.isEmpty());
    assertThat(pages).isEqualTo(4);
    assertThat(seen).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(before);
  }

  @Test
  void jobs_are_listed_by_state_queue_kind_run_and_parent() {
    JobId run = JobId.next();
    String a = holdfast.enqueue(Job.of("a").queue("q1").run(run, "x")).id().toString();
    String b = holdfast.enqueue(Job.of("b").queue("q2").parent(JobId.parse(a))).id().toString();
    String c = holdfast.enqueue(Job.of("b").queue("q1").run(run, "y")).id().toString();
    client.post("/v1/jobs/" + c + "/cancel", Map.of(), null).ok();
    assertThat(ids("/v1/jobs")).containsExactly(c, b, a);
    assertThat(ids("/api/v1/jobs?state=cancelled")).containsExactly(c);
    assertThat(ids("/v1/jobs?state=PENDING,CANCELLED&queue=q1")).containsExactly(c, a);
    assertThat(ids("/v1/jobs?kind=b")).containsExactly(c, b);
    assertThat(ids("/v1/jobs?runId=" + run)).containsExactly(c, a);
    assertThat(ids("/v1/jobs?runId=" + b)).containsExactly(b);
    assertThat(ids("/v1/jobs?parentId=" + a)).containsExactly(b);
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
  void a_filter_that_means_nothing_is_refused(String query) {
    assertThat(client.get("/v1/jobs?" + query, null).status()).isEqualTo(422);
  }

  @Test
  void jobs_are_found_by_the_time_they_were_handed_in() {
    List<String> made = new ArrayList<>();
    for (int hour = 10; hour < 13; hour++) {
      Instant at = Instant.parse("2026-11-15T%d:00:00Z".formatted(hour));
      String id = JobId.firstOf(at).toString();
      made.add(created(Map.of("id", id, "kind", "old")).get("id").asText());
    }
    String after = "createdAfter=2026-11-15T11:00:00Z";
    String before = "createdBefore=2026-11-15T13:00:00%2B01:00";
    assertThat(ids("/v1/jobs?kind=old&" + after)).containsExactly(made.get(2), made.get(1));
    assertThat(ids("/v1/jobs?kind=old&" + before)).containsExactly(made.get(1), made.get(0));
    assertThat(ids("/v1/jobs?" + after + "&" + before)).containsExactly(made.get(1));
    assertThat(ids("/v1/jobs?kind=old&" + before + "&cursor=" + made.get(2)))
        .containsExactly(made.get(1), made.get(0));
    assertThat(ids("/v1/jobs?kind=old&" + before + "&cursor=" + made.get(1)))
        .containsExactly(made.get(0));
  }

  @Test
  void jobs_are_counted_as_they_are_listed_up_to_a_number() {
    holdfast.enqueue(IntStream.range(0, 7).mapToObj(i -> Job.of("many")).toList());
    holdfast.enqueue(Job.of("one"));
    JsonNode count = client.get("/v1/jobs/count?kind=many&state=PENDING", null).ok();
    assertThat(count.get("count").asInt()).isEqualTo(7);
    assertThat(count.get("more").asBoolean()).isFalse();
    assertThat(client.get("/v1/jobs/count?q=MAN", null).ok().get("count").asInt()).isEqualTo(7);
    assertThat(client.get("/v1/jobs/count?tenant=acme", null).ok().get("count").asInt()).isZero();
    client.get("/v1/jobs/count?limit=3", null).is(422, "unknown_parameter");
    holdfast.enqueue(IntStream.range(0, 9_994).mapToObj(i -> Job.of("many")).toList());
    JsonNode most = client.get("/v1/jobs/count?kind=many", null).ok();
    assertThat(most.get("count").asInt()).isEqualTo(10_000);
    assertThat(most.get("more").asBoolean()).isTrue();
  }

  @Test
  void a_page_leaves_out_what_is_long_and_says_so() {
    Json large = new Json("{\"text\": \"" + "a7K".repeat(300_000) + "\"}");
    List<Job> jobs =
        IntStream.range(0, 10).mapToObj(i -> Job.of("large", large).queue(QUEUE)).toList();
    holdfast.enqueue(jobs);
    JobId small = holdfast.enqueue(Job.of("small", new Json("{\"n\":1}")).queue("other")).id();
    for (LeasedJob job : holdfast.jobs().claim(QUEUE, 5, "w", Duration.ofMinutes(5)).jobs()) {
      holdfast.jobs().settle(new Settlement.Succeed(job.lease(), large));
    }
    LeasedJob failed =
        holdfast.jobs().claim(QUEUE, 1, "w", Duration.ofMinutes(5)).jobs().getFirst();
    holdfast
        .jobs()
        .settle(
            new Settlement.Fail(
                failed.lease(),
                Failure.of(FailureCategory.USER_CODE, "E", "no").withStackTrace("at x"),
                Duration.ZERO));

    JsonNode page = client.get("/v1/jobs?limit=200", null).ok();
    assertThat(page.toString()).hasSizeLessThan(20_000);
    Map<String, JsonNode> byId = new HashMap<>();
    page.get("jobs").forEach(job -> byId.put(job.get("id").asText(), job));
    assertThat(byId).hasSize(11);
    JsonNode whole = byId.get(small.toString());
    assertThat(whole.get("payload").toString()).isEqualTo("{\"n\":1}");
    assertThat(whole.has("omitted")).isFalse();
    JsonNode cut = byId.get(failed.id().toString());
    assertThat(cut.has("payload")).isFalse();
    assertThat(cut.get("omitted").toString()).isEqualTo("[\"payload\",\"failure.stackTrace\"]");
    assertThat(cut.get("failure").get("message").asText()).isEqualTo("no");
    assertThat(page.get("jobs").toString()).contains("[\"payload\",\"result\"]");

    JsonNode one = client.get("/v1/jobs/" + failed.id(), null).ok();
    assertThat(one.get("payload").get("text").asText()).hasSize(900_000);
    assertThat(one.get("failure").get("stackTrace").asText()).isEqualTo("at x");
    assertThat(one.has("omitted")).isFalse();
    for (String query : List.of("?brief=true", "?q=large&limit=20", "?kind=large")) {
      assertThat(client.get("/v1/jobs" + query, null).ok().toString()).hasSizeLessThan(20_000);
    }
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      assertThat(remote.list(JobFilter.ALL))
          .filteredOn(job -> job.kind().equals("large"))
          .hasSize(10)
          .allMatch(job -> job.omitted().contains(JobStatus.PAYLOAD));
    }
  }

  @Test
  void a_brief_list_leaves_out_what_can_be_long() {
    created(Map.of("kind", "send-mail", "payload", Map.of("to", "ada")));
    db.sql(
        "UPDATE holdfast.job SET failure ="
            + " '{\"category\":\"USER_CODE\",\"code\":\"X\",\"message\":\"m\",\"retryable\":true,"
            + "\"stackTrace\":\"at\"}'");
    JsonNode job = client.get("/v1/jobs?brief=true", null).ok().get("jobs").get(0);
    assertThat(job.has("payload")).isFalse();
    assertThat(job.has("result")).isFalse();
    assertThat(job.get("failure").get("message").asText()).isEqualTo("m");
    assertThat(job.get("failure").has("stackTrace")).isFalse();
    assertThat(client.get("/v1/jobs", null).ok().get("jobs").get(0).has("payload")).isTrue();
  }

  @Test
  void many_are_chosen_by_a_text_and_a_time() {
    String old = JobId.firstOf(Instant.parse("2026-11-15T10:00:00Z")).toString();
    created(Map.of("id", old, "kind", "bulk", "payload", Map.of("to", "grace")));
    String grace =
        created(Map.of("kind", "bulk", "payload", Map.of("to", "grace"))).get("id").asText();
    String bob = created(Map.of("kind", "bulk", "payload", Map.of("to", "bob"))).get("id").asText();
    // No word of the letters of which ids are made.
    Map<String, Object> filter = Map.of("q", "GRACE", "createdAfter", "2026-11-15T10:00:01Z");
    JsonNode done = client.post("/v1/jobs/cancel", Map.of("filter", filter), null).ok();
    assertThat(done.get("cancelled").asInt()).isEqualTo(1);
    assertThat(state(JobId.parse(grace))).isEqualTo("CANCELLED");
    assertThat(state(JobId.parse(bob))).isEqualTo("PENDING");
    assertThat(state(JobId.parse(old))).isEqualTo("PENDING");
    client
        .post("/v1/jobs/cancel", Map.of("filter", Map.of("createdAfter", "soon")), null)
        .is(422, "invalid_value");
  }

  @Test
  void a_search_finds_what_stands_in_ids_kinds_keys_failures_and_payloads() {
    String mail =
        created(Map.of("kind", "send-mail", "payload", Map.of("to", "Ada@Example.org")))
            .get("id")
            .asText();
    String report =
        created(Map.of("kind", "report", "uniqueKey", "UK-77", "runKey", "month-end"))
            .get("id")
            .asText();
    db.sql(
        "UPDATE holdfast.job SET failure ="
            + " '{\"category\":\"USER_CODE\",\"code\":\"X\",\"message\":\"100% of_it broke\","
            + "\"retryable\":true}' WHERE id = ?::uuid",
        report);
    assertThat(ids("/v1/jobs?q=ada@example")).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=MAIL")).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=" + mail.substring(10))).containsExactly(mail);
    assertThat(ids("/v1/jobs?q=uk-77")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=month-end")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=100%25%20of_it")).containsExactly(report);
    assertThat(ids("/v1/jobs?q=ofXit")).isEmpty();
    assertThat(ids("/v1/jobs?q=mail&state=FAILED")).isEmpty();
    assertThat(client.get("/v1/jobs?q=mail", null).ok().get("searchComplete").asBoolean()).isTrue();
    assertThat(client.get("/v1/jobs", null).ok().has("searchComplete")).isFalse();
  }

  @Test
  void a_job_tells_its_timeline_its_attempts_and_its_result() {
    JobId job = enqueued();
    JsonNode task = leased();
    JsonNode running = client.get("/v1/jobs/" + job + "/result", null).ok();
    assertThat(running.toString())
        .isEqualTo("{\"state\":\"RUNNING\",\"result\":null,\"failure\":null}");
    // As an attempt before this one left it.
    db.sql(
        "UPDATE holdfast.job SET failure = '{\"category\": \"USER_CODE\", \"code\": \"FLAKY\","
            + " \"message\": \"once\", \"retryable\": true}' WHERE id = ?",
        job.value());
    callback(
            task,
            "completed",
            Map.of(
                "attempt",
                1,
                "workerId",
                "w1",
                "outcome",
                "SUCCEEDED",
                "output",
                Map.of("rows", 7),
                "metrics",
                Map.of("cpuTimeMs", 45)))
        .ok();
    JsonNode result = client.get("/v1/jobs/" + job + "/result", null).ok();
    assertThat(result.get("state").asText()).isEqualTo("SUCCEEDED");
    assertThat(result.get("result").get("rows").asInt()).isEqualTo(7);
    assertThat(result.get("failure").isNull()).isTrue();
    JsonNode attempt =
        client.get("/v1/jobs/" + job + "/attempts", null).ok().get("attempts").get(0);
    assertThat(attempt.get("outcome").asText()).isEqualTo("SUCCEEDED");
    assertThat(attempt.get("metrics").get("cpuTimeMs").asInt()).isEqualTo(45);
    assertThat(attempt.has("cancelledDuringPhase")).isTrue();
    List<String> events = new ArrayList<>();
    client
        .get("/v1/jobs/" + job + "/timeline", null)
        .ok()
        .get("events")
        .forEach(event -> events.add(event.get("type").asText()));
    assertThat(events).containsExactly("created", "processing", "done");
  }

  @Test
  void a_job_is_shown_with_all_that_is_asked_for_in_one_answer() {
    JobId job = enqueued();
    leased();
    JsonNode all =
        client.get("/v1/jobs/" + job + "?include=events,attempts,steps,artifacts", null).ok();
    for (String[] part :
        new String[][] {
          {"events", "/timeline"},
          {"attempts", "/attempts"},
          {"steps", "/steps"},
          {"artifacts", "/artifacts"}
        }) {
      JsonNode alone = client.get("/v1/jobs/" + job + part[1], null).ok().get(part[0]);
      assertThat(all.get(part[0])).isEqualTo(alone);
    }
    assertThat(all.get("attempts")).hasSize(1);
    JsonNode some = client.get("/v1/jobs/" + job + "?include=attempts", null).ok();
    assertThat(some.has("attempts")).isTrue();
    assertThat(some.has("events")).isFalse();
    client.get("/v1/jobs/" + job + "?include=everything", null).is(422, "invalid_value");
  }

  @Test
  void a_payload_nested_beyond_measure_can_still_be_looked_at() {
    String deep = "[".repeat(2_000) + "]".repeat(2_000);
    JobId job = holdfast.enqueue(Job.of("deep", new dev.holdfast.model.value.Json(deep))).id();
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("payload").asText()).contains("[[[");
  }

  @Test
  void a_job_that_is_not_there_is_not_found_and_an_id_that_is_none_is_bad() {
    for (String part : List.of("", "/timeline", "/attempts", "/result", "/artifacts")) {
      client.get("/v1/jobs/" + JobId.next() + part, null).is(404, "not_found");
      client.get("/v1/jobs/seven" + part, null).is(400, "bad_id");
    }
  }

  // ---- operating

  @Test
  void a_cancel_says_what_became_of_it_and_refuses_what_has_ended() {
    JobId job = enqueued();
    JsonNode cancelled =
        client.post("/v1/jobs/" + job + "/cancel", Map.of("reason", "no need"), null).ok();
    assertThat(cancelled.toString())
        .isEqualTo(
            "{\"jobs\":[{\"id\":\"%s\",\"was\":\"PENDING\",\"answer\":\"CANCELLED\"}]}"
                .formatted(job));
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("cancelReason").asText())
        .isEqualTo("no need");
    Client.Reply again = client.post("/v1/jobs/" + job + "/cancel", Map.of(), null);
    again.is(409, "job_already_terminal");
    assertThat(again.body().get("state").asText()).isEqualTo("CANCELLED");
    client.post("/v1/jobs/" + JobId.next() + "/cancel", Map.of(), null).is(404, "not_found");
  }

  @Test
  void a_cancel_takes_the_children_along_when_told_to() {
    JobId parent = enqueued();
    JobId child = holdfast.enqueue(Job.of("child").parent(parent)).id();
    JsonNode all =
        client.post("/v1/jobs/" + parent + "/cancel", Map.of("cascade", true), null).ok();
    assertThat(all.get("jobs")).hasSize(2);
    assertThat(state(child)).isEqualTo("CANCELLED");
  }

  @Test
  void a_retry_puts_back_what_has_ended_badly_and_nothing_else() {
    JobId job = enqueued();
    Client.Reply early = client.post("/v1/jobs/" + job + "/retry", null);
    early.is(409, "job_not_retryable");
    assertThat(early.body().get("state").asText()).isEqualTo("PENDING");
    client.post("/v1/jobs/" + job + "/cancel", Map.of(), null).ok();
    assertThat(client.post("/v1/jobs/" + job + "/retry", null).ok().get("state").asText())
        .isEqualTo("PENDING");
    assertThat(state(job)).isEqualTo("PENDING");
    client.post("/v1/jobs/" + JobId.next() + "/retry", null).is(404, "not_found");
  }

  @Test
  void many_are_cancelled_and_put_back_by_their_ids() {
    List<String> all = new ArrayList<>();
    IntStream.range(0, 3).forEach(i -> all.add(enqueued().toString()));
    client.post("/v1/jobs/" + all.getFirst() + "/cancel", Map.of(), null).ok();
    all.add(JobId.next().toString());
    assertThat(client.post("/v1/jobs/cancel", Map.of("ids", all), null).ok().toString())
        .isEqualTo(
            "{\"cancelled\":2,\"requested\":0,\"alreadyRequested\":0,\"alreadyTerminal\":1,"
                + "\"notFound\":1}");
    assertThat(client.post("/v1/jobs/retry", Map.of("ids", all), null).ok().toString())
        .isEqualTo("{\"retried\":3,\"refused\":0,\"notFound\":1}");
    assertThat(client.post("/v1/jobs/retry", Map.of("ids", all), null).ok().toString())
        .isEqualTo("{\"retried\":0,\"refused\":3,\"notFound\":1}");
  }

  @Test
  void many_are_chosen_by_a_filter_a_thousand_at_a_time() {
    holdfast.enqueue(IntStream.range(0, 1_005).mapToObj(i -> Job.of("bulk")).toList());
    JobId other = enqueued();
    Map<String, Object> filter = Map.of("kind", "bulk");
    JsonNode first = client.post("/v1/jobs/cancel", Map.of("filter", filter), null).ok();
    assertThat(first.get("cancelled").asInt()).isEqualTo(1_000);
    JsonNode second =
        client
            .post(
                "/v1/jobs/cancel",
                Map.of("filter", filter, "cursor", first.get("next").asText()),
                null)
            .ok();
    assertThat(second.get("cancelled").asInt()).isEqualTo(5);
    assertThat(second.has("next")).isFalse();
    assertThat(state(other)).isEqualTo("PENDING");
    JsonNode back =
        client
            .post(
                "/v1/jobs/retry",
                Map.of("filter", Map.of("kind", "bulk", "state", "CANCELLED")),
                null)
            .ok();
    assertThat(back.get("retried").asInt()).isEqualTo(1_000);
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
        "{\"filter\": {\"tenant\": \"acme\"}}",
        "{\"filter\": {\"queue\": \"\\u0000\"}}"
      })
  void a_choice_that_is_none_is_refused(String body) {
    assertThat(raw("/v1/jobs/cancel", body).status()).isEqualTo(422);
    assertThat(raw("/v1/jobs/retry", body).status()).isEqualTo(422);
  }
}
