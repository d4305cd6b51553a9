package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.client.operate.HttpOperator;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The output of programs, reported and read over HTTP. */
public class LogTest extends ServerTest {
  LogTest(TestDatabase db) {
    super(db);
  }

  private Client.Reply report(JsonNode task, int attempt, Object log, @Nullable String key) {
    return client.post(
        "/v1/leases/report",
        Map.of(
            "reports",
            List.of(
                Map.of(
                    "taskId",
                    task.get("taskId").asText(),
                    "attempt",
                    attempt,
                    "workerId",
                    "w1",
                    "log",
                    log))),
        key);
  }

  private static Map<String, Object> piece(int number, String text) {
    return Map.of("piece", number, "text", text);
  }

  private static String path(JsonNode task) {
    return "/v1/jobs/" + task.get("taskId").asText() + "/log";
  }

  @Test
  void a_log_is_reported_by_the_worker_and_read_in_pieces() {
    enqueued();
    JsonNode task = leased();
    JsonNode none = client.get(path(task), null).ok();
    assertThat(none.get("parts")).isEmpty();
    report(task, 1, piece(1, "one\n\u001b[31m<b>two</b>\u0000\n"), null).ok();
    JsonNode first = client.get(path(task) + "?cursor=" + none.get("next").asText(), null).ok();
    assertThat(first.get("parts").get(0).get("attempt").asInt()).isEqualTo(1);
    assertThat(first.get("parts").get(0).get("text").asText()).isEqualTo("one\n<b>two</b>·\n");
    assertThat(first.get("skipped").asBoolean()).isFalse();
    String next = client.get(path(task), null).ok().get("next").asText();
    assertThat(next).isEqualTo(first.get("next").asText());
    assertThat(client.get(path(task) + "?cursor=" + next, null).ok().get("parts")).isEmpty();
    report(task, 1, piece(20, "much later\n"), null).ok();
    JsonNode more = client.get(path(task) + "?cursor=" + next, null).ok();
    assertThat(more.get("parts").get(0).get("text").asText()).isEqualTo("much later\n");
  }

  @Test
  void a_log_of_an_attempt_that_does_not_hold_the_job_is_rejected() {
    enqueued();
    JsonNode task = leased();
    JsonNode answer = report(task, 2, piece(1, "late\n"), null).ok();
    assertThat(answer.get("acks").get(0).asText()).isEqualTo("LEASE_LOST");
    assertThat(client.get(path(task), null).ok().get("parts")).isEmpty();
  }

  @Test
  void invalid_log_pieces_and_cursors_are_rejected() {
    enqueued();
    JsonNode task = leased();
    report(task, 1, piece(0, "x\n"), null).is(422, "bad_limit");
    report(task, 1, piece(1, ""), null).is(422, "bad_limit");
    report(task, 1, piece(1, "x".repeat(5_000)), null).is(422, "bad_limit");
    report(task, 1, Map.of("piece", 1), null).is(422, "missing_field");
    for (String cursor : List.of("1", "a.b.c", "1.2.-3", "9999999999.1.1")) {
      client.get(path(task) + "?cursor=" + cursor, null).is(422, "bad_limit");
    }
    client.get(path(task) + "?before=1.1.1", null).is(422, "unknown_parameter");
    client.get("/v1/jobs/" + JobId.next() + "/log", null).is(404, "not_found");
  }

  private static Map<String, Object> lines(int first, String... lines) {
    return Map.of("attempt", 1, "firstLine", first, "lines", List.of(lines));
  }

  private String text(JsonNode task) {
    return client.get(path(task), null).ok().get("parts").path(0).path("text").asText();
  }

  @Test
  void a_worker_in_any_language_sends_lines_and_may_send_them_again() {
    enqueued();
    JsonNode task = leased();
    callback(task, "log", Map.of("attempt", 1, "lines", List.of("uncounted"))).ok();
    callback(task, "log", lines(2, "<b>two</b>", "\u001b[31mthree\u0000")).ok();
    JsonNode again = callback(task, "log", lines(3, "\u001b[31mthree\u0000", "four")).ok();
    assertThat(again.get("acknowledged").asBoolean()).isTrue();
    assertThat(text(task)).isEqualTo("uncounted\n<b>two</b>\nthree\nfour\n");
    try (HttpOperator remote = new HttpOperator(server.url(), null)) {
      JobId job = JobId.parse(task.get("taskId").asText());
      assertThat(remote.jobs().log(job, LogCursor.START).parts())
          .containsExactly(new LogTail.Part(1, text(task)));
    }
  }

  @Test
  void secrets_in_reports_of_workers_are_not_stored() {
    String secret = "ghp_" + "a7K2mQ9x".repeat(5).substring(0, 36);
    enqueued();
    JsonNode task = leased();
    callback(task, "log", lines(1, "token " + secret, "-----BEGIN PRIVATE KEY-----", "MIIEa7K2"))
        .ok();
    callback(task, "log", lines(4, "MIIEQ9xa", "-----END PRIVATE KEY-----", "bye")).ok();
    callback(
            task,
            "heartbeat",
            Map.of("attempt", 1, "workerId", "w1", "message", "with token " + secret))
        .ok();
    report(task, 1, piece(7, "token " + secret + "\n"), null).ok();
    assertThat(text(task))
        .isEqualTo(
            "token ***\n-----BEGIN PRIVATE KEY-----***\n-----END PRIVATE KEY-----\nbye\ntoken ***\n");
    for (String table : List.of("job", "event", "log")) {
      for (String hidden : List.of(secret, "MIIE")) {
        assertThat(
                db.count(
                    "SELECT count(*) FROM holdfast.%s t WHERE position(? IN t::text) > 0"
                        .formatted(table),
                    hidden))
            .as(table)
            .isZero();
      }
    }
  }

  @Test
  void invalid_lines_and_those_of_another_attempt_are_rejected() {
    enqueued();
    JsonNode task = leased();
    callback(task, "log", Map.of("attempt", 1)).is(422, "missing_field");
    callback(task, "log", lines(1)).is(422, "invalid_value");
    callback(task, "log", lines(0, "x")).is(422, "invalid_value");
    callback(task, "log", Map.of("attempt", 1, "lines", Collections.nCopies(1_001, "x")))
        .is(422, "invalid_value");
    callback(task, "log", lines(1, "x".repeat(300_000))).is(413, "body_too_large");
    callback(task, "log", Map.of("attempt", 2, "lines", List.of("x"))).is(403, "token_scope");
    callback(task, "log", Map.of("attempt", 1, "attemptId", "another", "lines", List.of("x")))
        .is(409, "attempt_mismatch");
    assertThat(client.get(path(task), null).ok().get("parts")).isEmpty();
  }

  private static Map<String, Object> end(String outcome, Map<String, ?> more) {
    Map<String, Object> end =
        new HashMap<>(Map.of("attempt", 1, "workerId", "w1", "outcome", outcome));
    end.putAll(more);
    return end;
  }

  @Test
  void the_last_lines_may_come_after_the_end_that_the_worker_has_reported() {
    enqueued();
    JsonNode task = leased();
    callback(task, "log", lines(1, "one")).ok();
    callback(task, "completed", end("SUCCEEDED", Map.of())).ok();
    callback(task, "log", lines(2, "two", "three")).ok();
    callback(task, "log", lines(3, "three", "four")).ok();
    assertThat(text(task)).isEqualTo("one\ntwo\nthree\nfour\n");
    enqueued();
    JsonNode failing = leased();
    Map<String, ?> busy = Map.of("category", "INFRASTRUCTURE", "message", "busy");
    callback(failing, "completed", end("FAILED", Map.of("error", busy))).ok();
    callback(failing, "log", lines(1, "before the next attempt")).ok();
    db.sql("UPDATE holdfast.job SET run_at = now(), state = 'PENDING' WHERE state = 'RETRYING'");
    assertThat(leased().get("attempt").asInt()).isEqualTo(2);
    callback(failing, "log", lines(2, "too late")).is(409, "attempt_mismatch");
    assertThat(text(failing)).isEqualTo("before the next attempt\n");
  }

  @Test
  void an_attempt_that_was_taken_from_its_worker_or_given_back_writes_no_line() {
    JobId lost = enqueued();
    JsonNode task = leased();
    db.expireLeases();
    assertThat(holdfast.store().maintenance().reap(Duration.ZERO).requeued()).containsExactly(lost);
    assertThat(state(lost)).isEqualTo("PENDING");
    callback(task, "log", lines(1, "late")).is(410, "task_expired");
    JsonNode again = leased();
    callback(again, "completed", Map.of("attempt", 2, "workerId", "w1", "outcome", "RELEASED"))
        .ok();
    callback(again, "log", Map.of("attempt", 2, "lines", List.of("late"))).is(410, "task_expired");
    assertThat(client.get(path(task), null).ok().get("parts")).isEmpty();
  }

  @Test
  void a_log_is_written_and_read_only_by_the_tenant_of_its_job() {
    holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("acme", "lab"));
    JsonNode task = leased();
    String all = key(Role.WORKER, null);
    String otherWorker = key(Role.WORKER, "other");
    JsonNode refused = report(task, 1, piece(1, "forged\n"), otherWorker).ok();
    assertThat(refused.get("acks").get(0).asText()).isEqualTo("LEASE_LOST");
    report(task, 1, piece(1, "secret\n"), all).ok();
    client.get(path(task), key(Role.VIEWER, "other")).is(404, "not_found");
    client.get(path(task), all).is(403, "forbidden");
    JsonNode own = client.get(path(task), key(Role.VIEWER, "acme")).ok();
    assertThat(own.get("parts").get(0).get("text").asText()).isEqualTo("secret\n");
  }
}
