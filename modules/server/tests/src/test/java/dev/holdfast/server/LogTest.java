package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.ApiKey;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.Role;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What programs print, on its way through a server. */
class LogTest extends ServerTest {
  LogTest(TestDatabase db) {
    super(db);
  }

  private Client.Reply report(JsonNode task, int attempt, Object log, @Nullable String key) {
    return client.post(
        "/v1/leases/report",
        Map.of(
            "reports",
            List.of(Map.of("taskId", task.get("taskId").asText(), "attempt", attempt, "log", log))),
        key);
  }

  private static Map<String, Object> piece(int number, String text) {
    return Map.of("piece", number, "text", text);
  }

  private static String path(JsonNode task) {
    return "/v1/jobs/" + task.get("taskId").asText() + "/log";
  }

  @Test
  void a_log_is_told_by_the_worker_and_read_piece_by_piece() {
    enqueued();
    JsonNode task = leased();
    JsonNode none = client.get(path(task), null).ok();
    assertThat(none.get("parts")).isEmpty();
    report(task, 1, piece(1, "one\n\u001b[31m<b>two</b>\u0000\n"), null).ok();
    JsonNode first = client.get(path(task) + "?after=" + none.get("next").asText(), null).ok();
    assertThat(first.get("parts").get(0).get("attempt").asInt()).isEqualTo(1);
    assertThat(first.get("parts").get(0).get("text").asText()).isEqualTo("one\n<b>two</b>·\n");
    assertThat(first.get("skipped").asBoolean()).isFalse();
    String next = client.get(path(task), null).ok().get("next").asText();
    assertThat(next).isEqualTo(first.get("next").asText());
    assertThat(client.get(path(task) + "?after=" + next, null).ok().get("parts")).isEmpty();
    report(task, 1, piece(20, "much later\n"), null).ok();
    JsonNode more = client.get(path(task) + "?after=" + next, null).ok();
    assertThat(more.get("parts").get(0).get("text").asText()).isEqualTo("much later\n");
  }

  @Test
  void one_of_an_attempt_that_does_not_hold_the_job_is_not_taken() {
    enqueued();
    JsonNode task = leased();
    JsonNode answer = report(task, 2, piece(1, "late\n"), null).ok();
    assertThat(answer.get("acks").get(0).asText()).isEqualTo("LEASE_LOST");
    assertThat(client.get(path(task), null).ok().get("parts")).isEmpty();
  }

  @Test
  void what_cannot_be_one_is_refused() {
    enqueued();
    JsonNode task = leased();
    report(task, 1, piece(0, "x\n"), null).is(422, "bad_limit");
    report(task, 1, piece(1, ""), null).is(422, "bad_limit");
    report(task, 1, piece(1, "x".repeat(5_000)), null).is(422, "bad_limit");
    report(task, 1, Map.of("piece", 1), null).is(422, "missing_field");
    for (String cursor : List.of("1", "a.b.c", "1.2.-3", "9999999999.1.1")) {
      client.get(path(task) + "?after=" + cursor, null).is(422, "bad_limit");
    }
    client.get(path(task) + "?before=1.1.1", null).is(422, "unknown_parameter");
    client.get("/v1/jobs/" + JobId.next() + "/log", null).is(404, "not_found");
  }

  @Test
  void it_is_for_the_tenant_whose_the_job_is() {
    holdfast.enqueue(Job.of("echo").queue(QUEUE).owner("acme", "lab"));
    JsonNode task = leased();
    String all = key(Role.WORKER, ApiKey.EVERY_TENANT);
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
