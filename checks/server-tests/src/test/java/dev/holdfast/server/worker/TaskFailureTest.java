package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.job.JobId;
import dev.holdfast.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tasks that fail, are snoozed or released. */
public class TaskFailureTest extends TasksFixture {
  TaskFailureTest(TestDatabase db) {
    super(db);
  }

  @Test
  void secrets_in_a_failure_are_not_stored() {
    String secret = "ghp_" + "a7K2mQ9x".repeat(5).substring(0, 36);
    enqueued();
    callback(
            leased(),
            "completed",
            failedBody(
                1,
                Map.of(
                    "category",
                    "USER_CODE",
                    "message",
                    "refused: token " + secret,
                    "stackTrace",
                    "at push(" + secret + ")",
                    "retryAfterMs",
                    0)))
        .ok();
    Map<String, Object> settled =
        Map.of(
            "taskId",
            leased().get("taskId").asText(),
            "attempt",
            2,
            "workerId",
            "w1",
            "delayMs",
            0,
            "outcome",
            "FAILED",
            "error",
            Map.of(
                "category",
                "USER_CODE",
                "code",
                "E",
                "message",
                "m " + secret,
                "stackTrace",
                "at " + secret,
                "retryable",
                false));
    client.post("/v1/leases/settle", Map.of("settlements", List.of(settled)), null).ok();
    for (String table : List.of("job", "attempt", "event")) {
      assertThat(
              db.count(
                  "SELECT count(*) FROM holdfast." + table + " t WHERE position(? IN t::text) > 0",
                  secret))
          .as(table)
          .isZero();
    }
    assertThat(db.count("SELECT count(*) FROM holdfast.attempt t WHERE t::text LIKE '%token ***%'"))
        .isEqualTo(1);
  }

  @Test
  void a_snoozed_or_released_task_is_pending_again_and_uses_no_budget() {
    JobId job = enqueued();
    JsonNode first = leased();
    Map<String, Object> snoozed =
        Map.of("attempt", 1, "workerId", "w1", "outcome", "SNOOZED", "delayMs", 0);
    for (int i = 0; i < 2; i++) {
      assertThat(callback(first, "completed", snoozed).ok().get("finalState").asText())
          .isEqualTo("PENDING");
    }
    JsonNode second = leased();
    assertThat(second.get("attempt").asInt()).isEqualTo(2);
    Map<String, Object> released = Map.of("attempt", 2, "workerId", "w1", "outcome", "RELEASED");
    callback(second, "completed", released).ok();
    callback(first, "completed", succeeded()).is(409, "attempt_mismatch");
    JsonNode shown = client.get("/v1/jobs/" + job + "?include=attempts", null).ok();
    assertThat(shown.get("failures").asInt()).isZero();
    assertThat(shown.get("attempts").valueStream().map(each -> each.get("outcome").asText()))
        .containsExactly("SNOOZED", "RELEASED");
    callback(leased(), "completed", Map.of("attempt", 3, "workerId", "w1", "outcome", "SNOOZED"))
        .is(422, "missing_field");
  }

  @ParameterizedTest
  @CsvSource({
    "USER_CODE,RETRYING",
    "DATA_QUALITY,FAILED",
    "INFRASTRUCTURE,RETRYING",
    "CONFIGURATION,FAILED",
    "TIMEOUT,RETRYING",
    "CANCELLED,FAILED"
  })
  void the_category_decides_whether_a_failure_is_retried(String category, String state) {
    JobId job = enqueued();
    JsonNode done = callback(leased(), "completed", failed(1, category)).ok();
    assertThat(done.get("finalState").asText()).isEqualTo(state);
    assertThat(state(job)).isEqualTo(state);
  }

  @Test
  void a_failure_may_be_marked_as_not_retryable() {
    enqueued();
    JsonNode done =
        callback(
                leased(),
                "completed",
                failedBody(
                    1, Map.of("category", "USER_CODE", "message", "never", "retryable", false)))
            .ok();
    assertThat(done.get("finalState").asText()).isEqualTo("FAILED");
  }

  @Test
  void metrics_and_failure_of_a_completion_are_shown_with_the_attempt() {
    JobId job = enqueued();
    callback(leased(), "completed", failed(1, "DATA_QUALITY")).ok();
    JsonNode attempt =
        client.get("/v1/jobs/" + job + "/attempts", null).ok().get("attempts").get(0);
    assertThat(attempt.get("metrics").get("cpuTimeMs").asInt()).isEqualTo(5_000);
    assertThat(attempt.get("failure").get("category").asText()).isEqualTo("DATA_QUALITY");
  }
}
