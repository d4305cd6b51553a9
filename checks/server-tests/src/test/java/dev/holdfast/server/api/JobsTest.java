package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Reads, cancels and retries one job. */
public class JobsTest extends JobsFixture {
  JobsTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_job_shows_its_timeline_its_attempts_and_its_result() {
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
  void a_job_is_shown_with_all_requested_parts_in_one_response() {
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
  void a_very_deeply_nested_payload_can_be_read() {
    String deep = "[".repeat(2_000) + "]".repeat(2_000);
    JobId job = holdfast.enqueue(Job.of("deep", new dev.holdfast.model.value.Json(deep))).id();
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("payload").asText()).contains("[[[");
  }

  @Test
  void an_unknown_job_is_not_found_and_a_malformed_id_is_rejected() {
    for (String part : List.of("", "/timeline", "/attempts", "/result", "/artifacts")) {
      client.get("/v1/jobs/" + JobId.next() + part, null).is(404, "not_found");
      client.get("/v1/jobs/seven" + part, null).is(400, "bad_id");
    }
  }

  // ---- cancels and retries

  @Test
  void a_cancel_reports_its_outcome_and_is_rejected_for_an_ended_job() {
    JobId job = enqueued();
    JsonNode cancelled =
        client.post("/v1/jobs/" + job + "/cancel", Map.of("reason", "no need"), null).ok();
    assertThat(cancelled.toString())
        .isEqualTo(
            "{\"jobs\":[{\"id\":\"%s\",\"previousState\":\"PENDING\",\"outcome\":\"CANCELLED\"}]}"
                .formatted(job));
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("cancelReason").asText())
        .isEqualTo("no need");
    Client.Reply again = client.post("/v1/jobs/" + job + "/cancel", Map.of(), null);
    again.is(409, "job_already_terminal");
    assertThat(again.body().get("state").asText()).isEqualTo("CANCELLED");
    client.post("/v1/jobs/" + JobId.next() + "/cancel", Map.of(), null).is(404, "not_found");
  }

  @Test
  void a_cancel_with_cascade_cancels_the_children() {
    JobId parent = enqueued();
    JobId child = holdfast.enqueue(Job.of("child").parent(parent)).id();
    JsonNode all =
        client.post("/v1/jobs/" + parent + "/cancel", Map.of("cascade", true), null).ok();
    assertThat(all.get("jobs")).hasSize(2);
    assertThat(state(child)).isEqualTo("CANCELLED");
  }

  @Test
  void a_retry_requeues_failed_and_cancelled_jobs_and_no_others() {
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
}
