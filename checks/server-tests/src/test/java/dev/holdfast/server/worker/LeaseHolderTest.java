package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.lease.LeaseReport;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Only the worker that holds a lease may settle it, report for it and read its steps. */
public class LeaseHolderTest extends LeasesFixture {
  LeaseHolderTest(TestDatabase db) {
    super(db);
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
    // The outcome is not disclosed to another worker either.
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
  void only_the_worker_that_holds_a_task_can_report_for_it() {
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
  void only_the_worker_that_holds_a_task_can_report_and_read_its_steps() {
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
      byte[] said = Wire.write(LeaseReport.ReportEntry.of(step, worker));
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
  void the_worker_that_held_a_task_can_ask_whether_it_succeeded() {
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
  void artifacts_are_accepted_only_from_the_holder_of_the_task() {
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

  @Test
  void tasks_of_another_tenant_are_answered_as_unknown() {
    String ours = key(Role.WORKER, "ours");
    String theirs = key(Role.WORKER, "theirs");
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("ours", "default")).id();
    assertThat(leased(QUEUE, theirs).get("tasks")).isEmpty();
    assertThat(leased(QUEUE, ours).get("tasks")).hasSize(1);
    holdfast.jobs().cancel(List.of(job), false, "enough", Tenant.ANY);
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
  void checkpoints_and_results_of_another_tenants_task_are_not_returned() {
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
  void only_tasks_of_the_tenant_of_the_key_are_counted() {
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
  void a_missing_key_or_one_of_another_role_is_refused() {
    String viewer = key(Role.VIEWER, null);
    client.get("/v1/leases?workerId=w1", viewer).is(403, "forbidden");
    client.get("/v1/leases?workerId=w1", null).is(401, "key_missing");
  }
}
