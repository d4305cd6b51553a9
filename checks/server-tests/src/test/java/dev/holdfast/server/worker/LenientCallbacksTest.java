package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What decides nothing in a callback costs a worker neither its lease nor its result. */
public class LenientCallbacksTest extends TasksFixture {
  LenientCallbacksTest(TestDatabase db) {
    super(db);
  }

  private Client.Reply completed(JsonNode task, String fields) {
    String body = "{\"attempt\": 1, \"workerId\": \"w1\", " + fields + "}";
    return callback(task, "completed", new RawValue(body));
  }

  private JsonNode reported(JobId job) {
    return client.get("/v1/jobs/" + job + "/attempts", null).ok().at("/attempts/0");
  }

  @Test
  void a_result_is_another_name_of_the_output() {
    JobId job = enqueued();
    completed(leased(), "\"outcome\": \"SUCCEEDED\", \"result\": {\"rowCount\": 7}").ok();
    assertThat(client.get("/v1/jobs/" + job + "/result", null).ok().at("/result/rowCount").asInt())
        .isEqualTo(7);
  }

  @Test
  void of_two_results_none_is_dropped_without_a_word() {
    enqueued();
    JsonNode task = leased();
    completed(task, "\"outcome\": \"SUCCEEDED\", \"output\": 1, \"result\": 2")
        .is(422, "invalid_value");
    completed(task, "\"outcome\": \"SUCCEEDED\", \"output\": 1, \"result\": 1").ok();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\u0000", "\\ud83d", "x"})
  void a_heartbeat_whose_message_cannot_be_stored_whole_extends_the_lease(String character) {
    JobId job = enqueued();
    String body =
        "{\"attempt\": 1, \"workerId\": \"w1\", \"message\": \"at work %s\"}"
            .formatted(character.repeat(5_000));
    callback(leased(), "heartbeat", new RawValue(body)).ok();
    assertThat(Objects.requireNonNull(holdfast.find(job).orElseThrow().progressMessage()))
        .startsWith("at work ")
        .hasSizeLessThanOrEqualTo(500);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"{\"a\": \"\\u0000\"} | NUL", "[\"\\ud800\"] | surrogate", "\"LONG\" | 65,536"})
  void metrics_that_cannot_be_stored_leave_a_note_and_the_result_counts(
      String metrics, String why) {
    JobId job = enqueued();
    completed(
            leased(),
            "\"outcome\": \"SUCCEEDED\", \"metrics\": "
                + metrics.replace("LONG", "x".repeat(66_000)))
        .ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    assertThat(reported(job).at("/metrics/dropped").asText()).startsWith("metrics: ").contains(why);
  }

  @Test
  void what_only_looks_like_a_nul_in_metrics_is_kept() {
    JobId job = enqueued();
    completed(leased(), "\"outcome\": \"SUCCEEDED\", \"metrics\": {\"a\": \"\\\\u0000\"}").ok();
    assertThat(reported(job).at("/metrics/a").asText()).isEqualTo("\\u0000");
  }

  @Test
  void a_long_phase_and_a_large_partial_progress_do_not_keep_a_task_from_being_cancelled() {
    JobId job = enqueued();
    JsonNode task = leased();
    holdfast.jobs().cancel(List.of(job), false, "enough", Tenant.ANY);
    completed(
            task,
            "\"outcome\": \"CANCELLED\", \"cancelledDuringPhase\": \""
                + "p".repeat(500)
                + "\", \"partialProgress\": \""
                + "x".repeat(66_000)
                + "\"")
        .ok();
    assertThat(state(job)).isEqualTo("CANCELLED");
    assertThat(reported(job).get("cancelledDuringPhase").asText()).startsWith("ppp").hasSize(100);
    assertThat(reported(job).at("/partialProgress/dropped").asText()).contains("65,536");
  }

  @Test
  void a_result_with_nul_is_refused_in_words_of_our_own() {
    enqueued();
    JsonNode task = leased();
    Client.Reply reply = completed(task, "\"outcome\": \"SUCCEEDED\", \"output\": \"a\\u0000b\"");
    reply.is(422, "result_not_json");
    assertThat(reply.body().get("message").asText())
        .contains("has the character NUL")
        .doesNotContain("ERROR", "Detail", "Where");
    completed(task, "\"outcome\": \"SUCCEEDED\", \"output\": \"ab\"").ok();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void code_and_retryable_of_a_failure_are_as_its_category_says_unless_given(boolean byLease) {
    for (String category : List.of("USER_CODE", "DATA_QUALITY")) {
      JobId job = enqueued();
      JsonNode task = leased();
      Map<String, Object> error = Map.of("category", category, "message", "no luck");
      Map<String, Object> end =
          Map.of("attempt", 1, "workerId", "w1", "outcome", "FAILED", "error", error);
      if (byLease) {
        Map<String, Object> settlement = new HashMap<>(end);
        settlement.put("taskId", job.toString());
        client.post("/v1/leases/settle", Map.of("settlements", List.of(settlement)), null).ok();
      } else {
        callback(task, "completed", end).ok();
      }
      assertThat(state(job)).isEqualTo(category.equals("USER_CODE") ? "RETRYING" : "FAILED");
      assertThat(
              Objects.requireNonNull(holdfast.queries().attempts(job).getFirst().failure()).code())
          .isEqualTo("HANDLER_FAILED");
    }
  }

  @Test
  void a_heartbeat_for_a_task_that_has_ended_is_answered_410_with_its_state() {
    enqueued();
    JsonNode task = leased();
    completed(task, "\"outcome\": \"SUCCEEDED\"").ok();
    Client.Reply gone = callback(task, "heartbeat", Map.of("attempt", 1, "workerId", "w1"));
    gone.is(410, "task_expired");
    assertThat(gone.body().get("state").asText()).isEqualTo("SUCCEEDED");
    assertThat(gone.body().get("message").asText()).isEqualTo("the task has ended already");
    callback(task, "started", Map.of("attempt", 1, "workerId", "w1"))
        .is(409, "task_already_terminal");
  }
}
