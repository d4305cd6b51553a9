package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.LeaseReport;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The routes for workers that run many tasks under one key. */
public class LeasesTest extends ServerTest {
  private static final String SHA256 = "0123456789abcdef".repeat(4);

  LeasesTest(TestDatabase db) {
    super(db);
  }

  private JsonNode leased(String queue, @Nullable String bearer) {
    return client
        .post(
            "/v1/queues/" + queue + "/lease",
            Map.of("workerId", "w1", "leaseMs", 60_000, "max", 10),
            bearer)
        .ok();
  }

  private static Map<String, Object> held(JobId job, int attempt) {
    return Map.of("taskId", job.toString(), "attempt", attempt, "workerId", "w1");
  }

  private List<String> acks(JsonNode answer) {
    return answer.get("acks").valueStream().map(JsonNode::asText).toList();
  }

  @Test
  void a_lease_lasts_as_long_as_its_worker_says() {
    JobId job = enqueued();
    JsonNode task = leased(QUEUE, null).get("tasks").get(0);
    assertThat(task.get("heartbeatTimeoutMs").asLong()).isEqualTo(60_000);
    assertThat(left(job)).isBetween(30.0, 60.0);
    client
        .post(
            "/v1/leases/heartbeat",
            Map.of("leaseMs", 3_600_000, "leases", List.of(held(job, 1))),
            null)
        .ok();
    assertThat(left(job)).isBetween(3_000.0, 3_600.0);
  }

  private double left(JobId job) {
    return Double.parseDouble(
        String.valueOf(
            db.queryOne(
                String.class,
                "SELECT extract(epoch FROM lease_expires_at - clock_timestamp())::text"
                    + " FROM holdfast.job WHERE id = ?",
                job.value())));
  }

  @Test
  void an_empty_answer_says_when_the_next_task_is_due() {
    assertThat(leased(QUEUE, null).has("nextDueInMs")).isFalse();
    holdfast.enqueue(Job.of("echo").queue(QUEUE).delay(java.time.Duration.ofMinutes(2)));
    assertThat(leased(QUEUE, null).get("nextDueInMs").asLong()).isBetween(1_000L, 120_000L);
  }

  @Test
  void every_ending_is_answered_in_its_place_and_the_same_when_it_is_sent_again() {
    List<JobId> jobs = List.of(enqueued(), enqueued(), enqueued(), enqueued(), enqueued());
    assertThat(leased(QUEUE, null).get("tasks")).hasSize(5);
    Map<String, Object> settlements =
        Map.of(
            "settlements",
            List.of(
                ending(jobs.get(0), "SUCCEEDED", Map.of("output", Map.of("price", 1.10))),
                ending(jobs.get(1), "RELEASED", Map.of("attempt", 7)),
                ending(
                    jobs.get(1),
                    "FAILED",
                    Map.of(
                        "delayMs",
                        0,
                        "error",
                        Map.of(
                            "category",
                            "USER_CODE",
                            "code",
                            "any words",
                            "message",
                            "no",
                            "retryable",
                            false))),
                ending(jobs.get(2), "CANCELLED", Map.of("partialProgress", Map.of("done", 3))),
                ending(jobs.get(3), "SNOOZED", Map.of("delayMs", 60_000)),
                ending(jobs.get(4), "RELEASED", Map.of("abortedByShutdown", true))));
    for (int i = 0; i < 2; i++) {
      assertThat(acks(client.post("/v1/leases/settle", settlements, null).ok()))
          .containsExactly(
              "ACCEPTED", "LEASE_LOST", "ACCEPTED", "ACCEPTED", "ACCEPTED", "ACCEPTED");
      assertThat(jobs.stream().map(this::state))
          .containsExactly("SUCCEEDED", "FAILED", "CANCELLED", "PENDING", "PENDING");
    }
    assertThat(holdfast.queries().timeline(jobs.get(4)).getLast().type())
        .isEqualTo("aborted:shutdown");
    assertThat(String.valueOf(holdfast.find(jobs.get(1)).orElseThrow().failure()))
        .contains("any words");
  }

  private static Map<String, Object> ending(JobId job, String outcome, Map<String, ?> more) {
    Map<String, Object> ending = new java.util.HashMap<>(held(job, 1));
    ending.put("outcome", outcome);
    ending.putAll(more);
    return ending;
  }

  @Test
  void only_the_worker_that_holds_a_task_can_end_it() {
    JobId job = enqueued();
    leased(QUEUE, null);
    Map<String, Object> stolen = ending(job, "FAILED", Map.of("workerId", "w2"));
    stolen.put("delayMs", 0);
    stolen.put(
        "error", Map.of("category", "USER_CODE", "code", "C", "message", "no", "retryable", false));
    Map<String, Object> own = ending(job, "SUCCEEDED", Map.of());
    assertThat(
            acks(
                client
                    .post("/v1/leases/settle", Map.of("settlements", List.of(stolen, own)), null)
                    .ok()))
        .containsExactly("LEASE_LOST", "ACCEPTED");
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    // Nor is anybody else told how it ended.
    own.put("workerId", "w2");
    assertThat(
            acks(client.post("/v1/leases/settle", Map.of("settlements", List.of(own)), null).ok()))
        .containsExactly("LEASE_LOST");
    own.remove("workerId");
    client
        .post("/v1/leases/settle", Map.of("settlements", List.of(own)), null)
        .is(422, "missing_field");
  }

  private static String artifacts(JobId job, String worker) {
    return "/v1/leases/artifacts?taskId=" + job + "&attempt=1&workerId=" + worker;
  }

  private static <T> Map<String, Object> by(String worker, Map<String, T> said) {
    Map<String, Object> told = new java.util.HashMap<>(said);
    told.put("workerId", worker);
    return told;
  }

  @Test
  void only_the_worker_that_holds_a_task_can_speak_for_it() {
    JobId job = enqueued();
    leased(QUEUE, null);
    Map<String, Object> progress = new java.util.HashMap<>(held(job, 1));
    progress.put("progressPct", 7);
    for (String worker : List.of("w2", "w1")) {
      boolean theirs = worker.equals("w1");
      String expected = theirs ? "ACCEPTED" : "LEASE_LOST";
      double before = left(job);
      JsonNode status =
          client
              .post(
                  "/v1/leases/heartbeat",
                  Map.of("leaseMs", 3_600_000, "leases", List.of(by(worker, held(job, 1)))),
                  null)
              .ok()
              .get("leases")
              .get(0);
      assertThat(status.get("ack").asText()).isEqualTo(expected);
      assertThat(left(job) > before).isEqualTo(theirs);
      assertThat(
              acks(
                  client
                      .post(
                          "/v1/leases/report",
                          Map.of("reports", List.of(by(worker, progress))),
                          null)
                      .ok()))
          .containsExactly(expected);
      assertThat(holdfast.find(job).orElseThrow().progress()).isEqualTo(theirs ? 7 : null);
      assertThat(
              client
                  .post("/v1/leases/publish", by(worker, publication(job, 1)), null)
                  .ok()
                  .get("ack")
                  .asText())
          .isEqualTo(expected);
      assertThat(holdfast.queries().artifacts(job)).hasSize(theirs ? 1 : 0);
    }
    assertThat(client.get(artifacts(job, "w2"), null).ok().get("artifacts")).isEmpty();
    assertThat(client.get(artifacts(job, "w1"), null).ok().get("artifacts")).hasSize(1);
  }

  @Test
  void only_the_worker_that_holds_a_task_can_tell_of_its_steps_and_ask_for_them() {
    JobId job = enqueued();
    leased(QUEUE, null);
    Report.Step step =
        new Report.Step(
            new Lease(job, 1),
            "build",
            1,
            StepState.DONE,
            1,
            false,
            new Json("{}"),
            Patch.of(new byte[] {1}),
            null,
            null,
            List.of());
    for (String worker : List.of("w2", "w1")) {
      boolean theirs = worker.equals("w1");
      byte[] said = Wire.write(LeaseReport.Said.of(step, worker));
      byte[] body = Arrays.copyOf(said, said.length + 1);
      body[said.length] = 1;
      JsonNode answer =
          client
              .send(
                  client
                      .request("/v1/leases/step?patchBytes=1", null)
                      .header("Content-Type", "application/octet-stream")
                      .POST(BodyPublishers.ofByteArray(body)))
              .ok();
      assertThat(acks(answer)).containsExactly(theirs ? "ACCEPTED" : "LEASE_LOST");
    }
    for (String worker : List.of("w2", "w1")) {
      boolean theirs = worker.equals("w1");
      String query = "?taskId=" + job + "&attempt=1&workerId=" + worker;
      assertThat(client.get("/v1/leases/steps" + query, null).ok().get("steps"))
          .hasSize(theirs ? 1 : 0);
      assertThat(client.get("/v1/leases/patch" + query + "&stepId=build", null).status())
          .isEqualTo(theirs ? 200 : 404);
    }
    client.get("/v1/leases/steps?taskId=" + job, null).is(422, "invalid_value");
    client.get("/v1/leases/steps?taskId=" + job + "&attempt=1", null).is(422, "bad_key");
  }

  @Test
  void whether_a_task_succeeded_is_told_to_the_worker_that_held_it() {
    JobId job = enqueued();
    leased(QUEUE, null);
    client
        .post(
            "/v1/leases/settle",
            Map.of("settlements", List.of(ending(job, "SUCCEEDED", Map.of()))),
            null)
        .ok();
    for (String worker : List.of("w2", "w1")) {
      assertThat(
              client
                  .post("/v1/leases/succeeded", by(worker, held(job, 1)), null)
                  .ok()
                  .get("succeeded")
                  .asBoolean())
          .isEqualTo(worker.equals("w1"));
    }
  }

  @Test
  void what_a_worker_holds_and_what_of_it_is_cancelled_can_be_asked_for() {
    JobId job = enqueued();
    leased(QUEUE, null);
    JsonNode held = client.get("/v1/leases?workerId=w1", null).ok().get("leases");
    assertThat(held).hasSize(1);
    assertThat(held.get(0).get("taskId").asText()).isEqualTo(job.toString());
    assertThat(client.get("/v1/leases?workerId=w2", null).ok().get("leases")).isEmpty();
    assertThat(client.get("/v1/leases/commands?workerId=w1", null).ok().get("leases")).isEmpty();
    holdfast.jobs().cancel(job, false, "enough", Timings.DEFAULT_CANCEL_GRACE);
    JsonNode leases = client.get("/v1/leases/commands?workerId=w1", null).ok().get("leases");
    assertThat(leases.get(0).get("cancelReason").asText()).isEqualTo("enough");
  }

  @Test
  void artifacts_are_taken_from_whoever_holds_the_task() {
    JobId job = enqueued();
    leased(QUEUE, null);
    Map<String, Object> publication = publication(job, 1);
    assertThat(client.post("/v1/leases/publish", publication, null).ok().get("ack").asText())
        .isEqualTo("ACCEPTED");
    assertThat(
            client.post("/v1/leases/publish", publication(job, 2), null).ok().get("ack").asText())
        .isEqualTo("LEASE_LOST");
    JsonNode artifacts = client.get(artifacts(job, "w1"), null).ok();
    assertThat(artifacts.get("artifacts").get(0).get("sha256").asText()).isEqualTo(SHA256);
  }

  private static Map<String, Object> publication(JobId job, int attempt) {
    return Map.of(
        "taskId",
        job.toString(),
        "attempt",
        attempt,
        "workerId",
        "w1",
        "store",
        "shared",
        "artifacts",
        List.of(Map.of("name", "a.txt", "size", 3, "sha256", SHA256)));
  }

  @Test
  void another_tenants_tasks_are_as_if_they_were_not() {
    String ours = key(Role.WORKER, "ours");
    String theirs = key(Role.WORKER, "theirs");
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("ours", "default")).id();
    assertThat(leased(QUEUE, theirs).get("tasks")).isEmpty();
    assertThat(leased(QUEUE, ours).get("tasks")).hasSize(1);
    holdfast.jobs().cancel(job, false, "enough", Timings.DEFAULT_CANCEL_GRACE);
    for (String key : List.of(theirs, ours)) {
      String expected = key.equals(ours) ? "ACCEPTED" : "LEASE_LOST";
      int seen = key.equals(ours) ? 1 : 0;
      JsonNode status =
          client
              .post(
                  "/v1/leases/heartbeat",
                  Map.of("leaseMs", 60_000, "leases", List.of(held(job, 1))),
                  key)
              .ok()
              .get("leases")
              .get(0);
      assertThat(status.get("ack").asText()).isEqualTo(expected);
      assertThat(status.has("cancelReason")).isEqualTo(key.equals(ours));
      assertThat(client.get("/v1/leases?workerId=w1", key).ok().get("leases")).hasSize(seen);
      assertThat(client.get("/v1/leases/commands?workerId=w1", key).ok().get("leases"))
          .hasSize(seen);
      Map<String, Object> said = new java.util.HashMap<>(held(job, 1));
      said.put("progressPct", 5);
      assertThat(acks(client.post("/v1/leases/report", Map.of("reports", List.of(said)), key).ok()))
          .containsExactly(expected);
      assertThat(
              client.post("/v1/leases/publish", publication(job, 1), key).ok().get("ack").asText())
          .isEqualTo(expected);
      assertThat(client.get(artifacts(job, "w1"), key).ok().get("artifacts")).hasSize(seen);
      assertThat(
              acks(
                  client
                      .post(
                          "/v1/leases/settle",
                          Map.of("settlements", List.of(ending(job, "SUCCEEDED", Map.of()))),
                          key)
                      .ok()))
          .containsExactly(expected);
      assertThat(
              client
                  .post("/v1/leases/succeeded", held(job, 1), key)
                  .ok()
                  .get("succeeded")
                  .asBoolean())
          .isEqualTo(key.equals(ours));
    }
  }

  @Test
  void what_another_tenants_task_left_and_how_it_ended_is_not_told() {
    String ours = key(Role.WORKER, "ours");
    String theirs = key(Role.WORKER, "theirs");
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("ours", "default")).id();
    assertThat(leased(QUEUE, ours).get("tasks")).hasSize(1);
    client.post("/v1/leases/publish", publication(job, 1), ours).ok();
    client
        .post(
            "/v1/leases/settle",
            Map.of("settlements", List.of(ending(job, "SUCCEEDED", Map.of()))),
            ours)
        .ok();
    for (String key : List.of(ours, theirs)) {
      boolean own = key.equals(ours);
      assertThat(client.get(artifacts(job, "w1"), key).ok().get("artifacts")).hasSize(own ? 1 : 0);
      assertThat(
              client
                  .post("/v1/leases/succeeded", held(job, 1), key)
                  .ok()
                  .get("succeeded")
                  .asBoolean())
          .isEqualTo(own);
    }
  }

  @Test
  void only_ones_own_tasks_are_counted() {
    String ours = key(Role.WORKER, "ours");
    String everybodys = key(Role.WORKER, null);
    enqueued();
    holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("ours", "default"));
    Map<String, Object> question = Map.of("queues", List.of(QUEUE), "limit", 10);
    assertThat(client.post("/v1/queues/depth", question, ours).ok().get("depth").asInt())
        .isEqualTo(1);
    assertThat(client.post("/v1/queues/depth", question, everybodys).ok().get("depth").asInt())
        .isEqualTo(2);
  }

  @Test
  void a_key_for_something_else_opens_nothing_here() {
    String viewer = key(Role.VIEWER, null);
    client.get("/v1/leases?workerId=w1", viewer).is(403, "forbidden");
    client.get("/v1/leases?workerId=w1", null).is(401, "key_missing");
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          heartbeat | {"leases":[]}
          heartbeat | {"leaseMs":1,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[null]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":null,"attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":0,"workerId":"w1"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"LOST"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"FAILED"}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"SNOOZED","delayMs":-1}]}
          settle    | {"settlements":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","outcome":"RELEASED","output":1}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1"}]}
          heartbeat | {"leaseMs":60000,"leases":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"progressPct":1}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"store":"s","artifacts":[{"name":"a","size":1,"sha256":"%s"}]}
          succeeded | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","progressPct":101}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","type":"done"}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","type":"task.step.attempt.started"}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","progressPct":1,"step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"a b","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":0,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"stepAttempt":1,"reset":false,"events":[]}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false}}]}
          report    | {"reports":[{"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","step":{"stepId":"s","stepIndex":1,"state":"RUNNING","stepAttempt":1,"reset":false,"events":[{"type":"done","data":{}}]}}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"../a","size":1,"sha256":"%s"}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"a","size":1,"sha256":"xyz"}]}
          publish   | {"taskId":"00000000-0000-7000-8000-000000000000","attempt":1,"workerId":"w1","store":"s","artifacts":[{"name":"a","size":-1,"sha256":"%s"}]}
          succeeded | {}
          """)
  void what_makes_no_sense_is_refused(String route, String body) {
    Client.Reply reply =
        client.post("/v1/leases/" + route, new Json(body.replace("%s", SHA256)), null);
    assertThat(reply.status()).as(() -> reply.body().toString()).isEqualTo(422);
    assertThat(reply.body().get("message").asText()).isNotBlank();
  }

  @Test
  void a_result_that_cannot_be_stored_is_refused_and_nothing_is_written() {
    JobId job = enqueued();
    leased(QUEUE, null);
    client
        .post(
            "/v1/leases/settle",
            Map.of("settlements", List.of(ending(job, "SUCCEEDED", Map.of("output", "\0")))),
            null)
        .is(422, "result_not_json");
    Map<String, Object> publication = new java.util.HashMap<>(publication(job, 1));
    publication.put("result", "\0");
    client.post("/v1/leases/publish", publication, null).is(422, "result_not_json");
    assertThat(state(job)).isEqualTo("RUNNING");
  }
}
