package dev.holdfast.server.worker;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The callbacks of one task: started, heartbeat, completed. */
public class TasksTest extends TasksFixture {
  TasksTest(TestDatabase db) {
    super(db);
  }

  private static Map<String, Object> started() {
    return Map.of("attempt", 1, "workerId", "w1", "startedAt", "2025-01-15T10:00:00Z");
  }

  @Test
  void the_deadline_of_a_task_is_that_of_its_job() {
    Instant deadline = Instant.now().plusSeconds(3_600).truncatedTo(ChronoUnit.MICROS);
    holdfast.enqueue(Job.of("echo").queue(QUEUE).deadline(deadline));
    JsonNode task = leased();
    assertThat(Instant.parse(task.get("deadline").asText())).isEqualTo(deadline);
    assertThat(task.get("deadlineMs").asLong()).isBetween(1L, 3_600_000L);
  }

  @Test
  void attributes_of_a_job_are_in_its_envelope_unless_there_are_none() {
    holdfast.enqueue(brings(Job.of("echo").queue(QUEUE)));
    JsonNode task = leased();
    assertThat(task.get("assetId").asText()).isEqualTo("orders");
    assertThat(task.get("partitionKey").asText()).isEqualTo("2026-11-17");
    assertThat(task.get("resources").toString()).isEqualTo("{\"cpu\":2}");
    assertThat(task.get("traceparent").asText()).isEqualTo(TRACE);
    enqueued();
    JsonNode plain = leased();
    assertThat(plain.get("resources").toString()).isEqualTo("{}");
    for (String field : List.of("assetId", "partitionKey", "traceparent")) {
      assertThat(plain.has(field)).as(field).isFalse();
    }
  }

  @Test
  void a_task_runs_from_its_lease_to_its_completion() {
    JobId job = enqueued();
    JsonNode task = leased();
    assertThat(task.get("taskId").asText()).isEqualTo(job.toString());
    assertThat(task.get("heartbeatIntervalMs").asLong()).isEqualTo(30_000);
    assertThat(task.get("heartbeatTimeoutMs").asLong()).isEqualTo(90_000);
    assertThat(task.get("cancelGracePeriodMs").asLong()).isEqualTo(30_000);

    JsonNode begun = callback(task, "started", started()).ok();
    assertThat(begun.get("acknowledged").asBoolean()).isTrue();
    assertThat(Instant.parse(begun.get("serverTime").asText()))
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));

    JsonNode beat =
        callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1", "progressPct", 45)).ok();
    assertThat(beat.get("shouldCancel").asBoolean()).isFalse();
    assertThat(holdfast.find(job).orElseThrow().progress()).isEqualTo(45);

    JsonNode done = callback(task, "completed", succeeded()).ok();
    assertThat(done.get("finalState").asText()).isEqualTo("SUCCEEDED");
    assertThat(String.valueOf(holdfast.find(job).orElseThrow().result())).contains("7");
  }

  @Test
  void the_same_completion_again_is_answered_the_same_and_another_one_is_refused() {
    enqueued();
    JsonNode task = leased();
    JsonNode first = callback(task, "completed", succeeded()).ok();
    JsonNode second = callback(task, "completed", succeeded()).ok();
    assertThat(second.get("finalState")).isEqualTo(first.get("finalState"));
    Client.Reply other =
        callback(
            task,
            "completed",
            Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED", "output", "other"));
    other.is(409, "task_already_terminal");
    assertThat(other.body().get("state").asText()).isEqualTo("SUCCEEDED");
  }

  @Test
  void a_repeated_completion_may_differ_in_what_its_client_makes_anew() {
    enqueued();
    JsonNode task = leased();
    callback(
            task,
            "completed",
            json(
                """
        {"attempt": 1, "workerId": "w1", "outcome": "SUCCEEDED", "metrics": {"cpuTimeMs": 1},
         "completedAt": "2026-11-19T10:00:00Z", "output": {"a": {"x": 1, "y": [1.50, "1"]}, "b": 2}}
        """))
        .ok();
    callback(
            task,
            "completed",
            json(
                """
        {"attempt": 1, "workerId": "w2", "outcome": "SUCCEEDED", "metrics": {"cpuTimeMs": 7},
         "completedAt": "2026-11-19T10:00:09Z", "output": {"b": 2.0, "a": {"y": [1.5, "1"], "x": 1}}}
        """))
        .ok();
    for (String other :
        List.of(
            "{\"a\": {\"x\": 1, \"y\": [1.5, 1]}, \"b\": 2}",
            "{\"a\": {\"x\": 1}, \"y\": [1.5, \"1\"], \"b\": 2}",
            "null")) {
      callback(
              task,
              "completed",
              json(
                  """
                  {"attempt": 1, "workerId": "w1", "outcome": "SUCCEEDED", "output": %s}
                  """
                      .formatted(other)))
          .is(409, "task_already_terminal");
    }
  }

  @Test
  void a_repeated_failure_may_have_another_stack_trace_but_not_another_category() {
    enqueued();
    JsonNode task = leased();
    String failure =
        """
        {"attempt": 1, "workerId": "w1", "outcome": "FAILED",
         "error": {"category": "%s", "message": "no luck", "stackTrace": "%s", "retryable": false}}
        """;
    callback(task, "completed", json(failure.formatted("DATA_QUALITY", "at a line"))).ok();
    // It is what the category says.
    callback(
            task,
            "completed",
            json(
                failure
                    .formatted("DATA_QUALITY", "at another")
                    .replace(", \"retryable\": false", "")))
        .ok();
    callback(task, "completed", json(failure.formatted("TIMEOUT", "at a line")))
        .is(409, "task_already_terminal");
  }

  private static JsonNode json(String text) {
    return Wire.tree(text.getBytes(StandardCharsets.UTF_8));
  }

  /** As a worker that is newer than the server, or made for another one, sends it. */
  private static Map<String, Object> more(JsonNode task, Map<String, Object> fields) {
    Map<String, Object> all = new HashMap<>(fields);
    all.put("attemptId", task.get("attemptId").asText());
    all.put("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    all.put("somethingNew", Map.of("a", 1));
    return all;
  }

  @Test
  void unknown_fields_are_ignored_in_every_callback() {
    JobId job = enqueued();
    JsonNode task = leased();
    callback(task, "started", more(task, started())).ok();
    callback(task, "heartbeat", more(task, Map.of("attempt", 1, "workerId", "w1"))).ok();
    client
        .put(
            "/v1/tasks/" + job + "/steps/fetch",
            more(task, Map.of("attempt", 1, "stepIndex", 1, "state", "RUNNING", "stepAttempt", 1)),
            task.get("taskToken").asText())
        .ok();
    JsonNode done = callback(task, "completed", more(task, succeeded())).ok();
    assertThat(done.get("finalState").asText()).isEqualTo("SUCCEEDED");
    // What only names the attempt does not make it another completion.
    callback(task, "completed", succeeded()).ok();
  }

  @Test
  void a_callback_with_the_id_of_another_attempt_is_rejected() {
    JobId job = enqueued();
    JsonNode task = leased();
    for (String callback : List.of("started", "heartbeat", "completed")) {
      Map<String, Object> wrong = new HashMap<>(succeeded());
      wrong.put("attemptId", job + ".2");
      Client.Reply reply = callback(task, callback, wrong);
      reply.is(409, "attempt_mismatch");
      assertThat(reply.body().get("expectedAttemptId").asText()).isEqualTo(job + ".1");
    }
    client
        .put(
            "/v1/tasks/" + job + "/steps/fetch",
            Map.of(
                "attempt",
                1,
                "attemptId",
                "x",
                "stepIndex",
                1,
                "state",
                "RUNNING",
                "stepAttempt",
                1),
            task.get("taskToken").asText())
        .is(409, "attempt_mismatch");
    assertThat(state(job)).isEqualTo("RUNNING");
  }

  @Test
  void a_heartbeat_with_a_message_alone_keeps_the_message_and_the_percentage() {
    JobId job = enqueued();
    JsonNode task = leased();
    callback(
            task,
            "heartbeat",
            Map.of("attempt", 1, "workerId", "w1", "message", "reading the source"))
        .ok();
    JobStatus status = holdfast.find(job).orElseThrow();
    assertThat(status.progressMessage()).isEqualTo("reading the source");
    assertThat(status.progress()).isNull();
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1", "progressPct", 45)).ok();
    // Not within half a second of the one before.
    await()
        .atMost(SOON)
        .until(
            () -> {
              callback(
                      task,
                      "heartbeat",
                      Map.of("attempt", 1, "workerId", "w1", "message", "cutting"))
                  .ok();
              return "cutting".equals(holdfast.find(job).orElseThrow().progressMessage());
            });
    assertThat(holdfast.find(job).orElseThrow().progress()).isEqualTo(45);
  }

  @Test
  void a_cancel_comes_with_the_next_heartbeat() {
    JobId job = enqueued();
    JsonNode task = leased();
    holdfast.jobs().cancel(List.of(job), false, "user_requested", Tenant.ANY);
    JsonNode beat = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    assertThat(beat.get("shouldCancel").asBoolean()).isTrue();
    assertThat(beat.get("cancelReason").asText()).isEqualTo("user_requested");
    JsonNode done =
        callback(
                task,
                "completed",
                Map.of(
                    "attempt",
                    1,
                    "workerId",
                    "w1",
                    "outcome",
                    "CANCELLED",
                    "cancelledDuringPhase",
                    "processing",
                    "partialProgress",
                    Map.of("recordsProcessed", 500)))
            .ok();
    assertThat(done.get("finalState").asText()).isEqualTo("CANCELLED");
    assertThat(holdfast.queries().reportedCompletions(job).getFirst().cancelledDuringPhase())
        .isEqualTo("processing");
  }

  @Test
  void a_task_cancelled_before_it_started_is_not_started() {
    JobId job = enqueued();
    JsonNode task = leased();
    holdfast.jobs().cancel(List.of(job), false, "user_requested", Tenant.ANY);
    Client.Reply reply = callback(task, "started", started());
    reply.is(409, "task_already_terminal");
    assertThat(reply.body().get("state").asText()).isEqualTo("CANCELLED");
    assertThat(state(job)).isEqualTo("CANCELLED");
  }

  @Test
  void a_started_that_is_repeated_after_a_cancel_is_answered_like_the_first() {
    JobId job = enqueued();
    JsonNode task = leased();
    callback(task, "started", started()).ok();
    holdfast.jobs().cancel(List.of(job), false, "user_requested", Tenant.ANY);
    assertThat(callback(task, "started", started()).ok().get("acknowledged").asBoolean()).isTrue();
    assertThat(state(job)).isEqualTo("RUNNING");
    JsonNode beat = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    assertThat(beat.get("shouldCancel").asBoolean()).isTrue();
    JsonNode done = callback(task, "completed", succeeded()).ok();
    assertThat(done.get("finalState").asText()).isEqualTo("SUCCEEDED");
  }

  @Test
  void a_started_that_follows_a_heartbeat_does_not_end_a_cancelled_task() {
    JobId job = enqueued();
    JsonNode task = leased();
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).ok();
    holdfast.jobs().cancel(List.of(job), false, "user_requested", Tenant.ANY);
    callback(task, "started", started()).ok();
    assertThat(state(job)).isEqualTo("RUNNING");
  }

  @Test
  void a_worker_that_lost_its_lease_is_answered_lease_lost() {
    JobId job = enqueued();
    JsonNode task = leased();
    db.expireLeases();
    holdfast.store().maintenance().reap(Duration.ZERO);
    assertThat(String.valueOf(holdfast.queries().attempts(job).getFirst().failure()))
        .contains("HEARTBEAT_TIMEOUT");
    callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).is(410, "task_expired");

    JsonNode again = leased();
    assertThat(again.get("attempt").asInt()).isEqualTo(2);
    Client.Reply late = callback(task, "completed", succeeded());
    late.is(409, "attempt_mismatch");
    assertThat(late.body().get("expectedAttempt").asInt()).isEqualTo(2);
    assertThat(late.body().get("receivedAttempt").asInt()).isEqualTo(1);
  }

  @Test
  void a_repeated_completion_is_answered_the_same_after_later_attempts() {
    JobId job = enqueued();
    JsonNode first = leased();
    JsonNode answer = callback(first, "completed", failed(1, "USER_CODE")).ok();
    db.sql("UPDATE holdfast.job SET run_at = now()");
    holdfast.store().maintenance().promote();
    assertThat(leased().get("attempt").asInt()).isEqualTo(2);
    JsonNode again = callback(first, "completed", failed(1, "USER_CODE")).ok();
    assertThat(again.get("finalState")).isEqualTo(answer.get("finalState"));
    callback(first, "completed", failed(1, "TIMEOUT")).is(409, "attempt_mismatch");
    assertThat(state(job)).isEqualTo("RUNNING");
  }

  @Test
  void a_worker_that_does_not_stop_within_the_grace_period_is_fenced_off() {
    JobId job = enqueued();
    JsonNode task = leased();
    holdfast.jobs().cancel(List.of(job), false, "user_requested", Tenant.ANY);
    db.sql("UPDATE holdfast.job SET cancel_deadline = now() - interval '1 hour'");
    holdfast.store().maintenance().expire();
    assertThat(String.valueOf(holdfast.find(job).orElseThrow().failure()))
        .contains("CANCEL_TIMEOUT");
    Client.Reply gone = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1"));
    gone.is(410, "task_expired");
    assertThat(gone.body().get("reason").asText()).isEqualTo("CANCEL_TIMEOUT");
    assertThat(gone.body().get("message").asText())
        .contains("cancelled", "grace period")
        .doesNotContain("heartbeat timeout");
    callback(task, "completed", succeeded()).is(409, "task_already_terminal");
  }

  @Test
  void every_route_also_exists_under_api() {
    enqueued();
    JsonNode task = leased();
    client
        .post(
            "/api/v1/tasks/" + task.get("taskId").asText() + "/started",
            started(),
            task.get("taskToken").asText())
        .ok();
  }
}
