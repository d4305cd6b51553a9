package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Checkpoints of workers in any language. */
public class StepsTest extends ServerTest {
  StepsTest(TestDatabase db) {
    super(db);
  }

  private static JobId id(JsonNode task) {
    return JobId.parse(task.get("taskId").asText());
  }

  private static String steps(JsonNode task) {
    return "/v1/tasks/" + task.get("taskId").asText() + "/steps";
  }

  private static String token(JsonNode task) {
    return task.get("taskToken").asText();
  }

  private Client.Reply tell(
      JsonNode task, String step, int index, StepState state, int attempt, Map<String, ?> more) {
    Map<String, Object> body = new HashMap<>(more);
    body.put("attempt", task.get("attempt").asInt());
    body.put("stepIndex", index);
    body.put("state", state.name());
    body.put("stepAttempt", attempt);
    return client.put(steps(task) + "/" + step, body, token(task));
  }

  private Client.Reply tell(JsonNode task, String step, int index, StepState state, int attempt) {
    return tell(task, step, index, state, attempt, Map.of());
  }

  private JsonNode task() {
    enqueued();
    return leased();
  }

  /** The same job, leased to another worker. */
  private JsonNode takenOver(JsonNode task) {
    db.expireLease(id(task).value());
    holdfast.store().maintenance().reap(Duration.ZERO);
    return leased();
  }

  private List<JobEvent> told(JsonNode task) {
    return holdfast.queries().timeline(id(task)).stream()
        .filter(event -> event.type().startsWith(EventType.TASK))
        .toList();
  }

  private List<String> types(JsonNode task) {
    return told(task).stream().map(JobEvent::type).toList();
  }

  @Test
  void another_worker_continues_from_the_checkpoints() {
    JsonNode first = task();
    assertThat(client.get(steps(first), token(first)).ok().get("steps")).isEmpty();
    tell(first, "fetch", 1, StepState.RUNNING, 1).ok();
    JsonNode answer =
        tell(first, "fetch", 1, StepState.DONE, 1, Map.of("result", Map.of("rows", 7))).ok();
    assertThat(answer.get("acknowledged").asBoolean()).isTrue();
    tell(first, "load", 2, StepState.RUNNING, 1).ok();

    JsonNode second = takenOver(first);
    JsonNode found = client.get(steps(second), token(second)).ok().get("steps");
    assertThat(found).hasSize(2);
    assertThat(found.get(0).get("stepId").asText()).isEqualTo("fetch");
    assertThat(found.get(0).get("state").asText()).isEqualTo("DONE");
    assertThat(found.get(0).get("checkpoint").get("rows").asInt()).isEqualTo(7);
    assertThat(found.get(1).get("state").asText()).isEqualTo("INTERRUPTED");
    assertThat(found.get(1).get("attempt").asInt()).isEqualTo(1);
    tell(second, "load", 2, StepState.RUNNING, 2).ok();
    tell(second, "load", 2, StepState.DONE, 2).ok();
    assertThat(holdfast.queries().steps(id(first))).allMatch(StepStatus::isDone);
  }

  @Test
  void a_step_that_ended_soon_is_reported_once() {
    JsonNode task = task();
    tell(task, "fetch", 1, StepState.DONE, 1, Map.of("tookMs", 250, "result", 7)).ok();
    tell(task, "fetch", 1, StepState.DONE, 1, Map.of("tookMs", 250, "result", 7)).ok();
    tell(
            task,
            "load",
            2,
            StepState.FAILED,
            1,
            Map.of("tookMs", 3, "failureClass", "transient_runtime", "strategy", "soft_reset"))
        .ok();
    tell(task, "load", 2, StepState.RUNNING, 2).ok();
    tell(task, "load", 2, StepState.DONE, 2).ok();
    tell(task, "check", 3, StepState.DONE, 1, Map.of("tookMs", 1, "summary", "all there")).ok();
    assertThat(types(task))
        .containsExactly(
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED,
            EventType.STEP_FAILED,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED);
    assertThat(told(task).get(1).data().text()).contains("\"seconds\": 0.250");
    assertThat(told(task).getLast().data().text()).contains("all there");
    assertThat(holdfast.queries().timeline(id(task)).stream().map(JobEvent::number).toList())
        .isEqualTo(IntStream.rangeClosed(1, 10).boxed().toList());
    assertThat(holdfast.queries().steps(id(task))).allMatch(StepStatus::isDone);
    assertThat(tell(task, "late", 4, StepState.RUNNING, 1, Map.of("tookMs", 1)).status())
        .isEqualTo(422);
  }

  private List<String> resumed(JsonNode task) {
    return told(task).stream()
        .filter(event -> event.type().equals(EventType.RESUME_FROM_STEP))
        .map(event -> event.attempt() + " " + event.data().text())
        .toList();
  }

  @Test
  void the_timeline_says_at_which_step_another_attempt_continues() {
    JsonNode first = task();
    tell(first, "fetch", 1, StepState.RUNNING, 1).ok();
    tell(first, "fetch", 1, StepState.DONE, 1).ok();
    tell(first, "load", 2, StepState.RUNNING, 1).ok();
    assertThat(resumed(first)).isEmpty();
    JsonNode second = takenOver(first);
    tell(second, "load", 2, StepState.RUNNING, 2).ok();
    tell(second, "load", 2, StepState.RUNNING, 2).ok();
    tell(second, "load", 2, StepState.DONE, 2).ok();
    tell(second, "check", 3, StepState.RUNNING, 1).ok();
    assertThat(resumed(first))
        .singleElement(STRING)
        .startsWith("2 ")
        .contains("\"stepId\": \"load\"", "\"attempt\": 1", "\"strategy\": \"queue_retry\"");
    assertThat(types(first).indexOf(EventType.RESUME_FROM_STEP))
        .isEqualTo(types(first).lastIndexOf(EventType.STEP_FINISHED) - 2);
    // Over the other protocol, too, in which workers write the entries of the timeline.
    JsonNode third = takenOver(first);
    Map<String, Object> step =
        Map.of(
            "stepId",
            "check",
            "stepIndex",
            3,
            "state",
            "RUNNING",
            "stepAttempt",
            2,
            "reset",
            false,
            "events",
            List.of(Map.of("type", EventType.STEP_STARTED, "data", Map.of("stepId", "check"))));
    Map<String, Object> report =
        Map.of(
            "taskId", third.get("taskId").asText(), "attempt", 3, "workerId", "w1", "step", step);
    client.post("/v1/leases/report", Map.of("reports", List.of(report)), null).ok();
    assertThat(resumed(first)).hasSize(2).last(STRING).startsWith("3 ").contains("check");
  }

  @Test
  void an_attempt_that_begins_with_the_first_step_continues_nothing() {
    JsonNode first = task();
    JsonNode second = takenOver(first);
    tell(second, "fetch", 1, StepState.RUNNING, 1).ok();
    tell(second, "fetch", 1, StepState.DONE, 1).ok();
    tell(second, "load", 2, StepState.RUNNING, 1).ok();
    assertThat(resumed(first)).isEmpty();
  }

  @Test
  void every_attempt_of_a_step_is_in_the_timeline() {
    JsonNode task = task();
    String hash = "0123456789abcdef".repeat(4);
    tell(task, "build", 1, StepState.RUNNING, 1);
    tell(
            task,
            "build",
            1,
            StepState.FAILED,
            1,
            Map.of(
                "failureClass", "stuck_no_progress",
                "failureSignature", "no space left",
                "summary", "the disk is full",
                "strategy", "hard_reset",
                "diffHash", hash))
        .ok();
    tell(task, "build", 1, StepState.RUNNING, 2, Map.of("strategy", "hard_reset"));
    tell(task, "build", 1, StepState.DONE, 2, Map.of("diffHash", hash));
    assertThat(types(task))
        .containsExactly(
            EventType.STEP_STARTED,
            EventType.STEP_FAILED,
            EventType.STEP_STARTED,
            EventType.STEP_FINISHED);
    JsonNode failed = dev.holdfast.contract.json.Wire.tree(told(task).get(1).data());
    assertThat(failed).isNotNull();
    assertThat(String.valueOf(failed))
        .contains("\"stepId\":\"build\"", "\"stepIndex\":1", "\"attempt\":1")
        .contains("stuck_no_progress", "no space left", "the disk is full", "hard_reset", hash);
    assertThat(told(task).get(0).data().text()).doesNotContain("null", "failure", "strategy");
    assertThat(holdfast.queries().steps(id(task)).getFirst().resets()).isEqualTo(1);
  }

  @Test
  void secrets_in_step_reports_are_not_stored() {
    JsonNode task = task();
    String secret = "ghp_" + "a7K2mQ9x".repeat(5).substring(0, 36);
    tell(
            task,
            "push",
            1,
            StepState.FAILED,
            1,
            Map.of(
                "failureClass", "deterministic_policy",
                "failureSignature", "refused: token " + secret,
                "summary", "git push https://x:" + secret + "@example.com failed"))
        .ok();
    assertThat(String.valueOf(told(task)))
        .doesNotContain(secret)
        .contains("refused: token ***", "@example.com failed");
    assertThat(
            db.count(
                "SELECT count(*) FROM holdfast.event e WHERE position(? IN e::text) > 0", secret))
        .isZero();
  }

  @Test
  void repeated_and_late_step_reports_change_nothing() {
    JsonNode task = task();
    tell(task, "fetch", 1, StepState.RUNNING, 1).ok();
    tell(task, "fetch", 1, StepState.DONE, 1, Map.of("result", 1)).ok();
    List<StepStatus> before = holdfast.queries().steps(id(task));
    tell(task, "fetch", 1, StepState.DONE, 1, Map.of("result", 1)).ok();
    tell(task, "fetch", 1, StepState.RUNNING, 1).ok();
    tell(task, "fetch", 1, StepState.FAILED, 1).ok();
    assertThat(holdfast.queries().steps(id(task))).isEqualTo(before);
    assertThat(types(task)).containsExactly(EventType.STEP_STARTED, EventType.STEP_FINISHED);
  }

  @Test
  void an_attempt_that_lost_its_task_neither_writes_nor_reads_its_steps() {
    JsonNode first = task();
    JsonNode second = takenOver(first);
    tell(first, "fetch", 1, StepState.DONE, 1).is(409, "attempt_mismatch");
    client.get(steps(first), token(first)).is(409, "attempt_mismatch");
    callback(second, "completed", Map.of("attempt", 2, "workerId", "w", "outcome", "SUCCEEDED"))
        .ok();
    tell(second, "fetch", 1, StepState.DONE, 1).is(409, "task_already_terminal");
    client.get(steps(second), token(second)).is(409, "task_already_terminal");
    assertThat(holdfast.queries().steps(id(first))).isEmpty();
  }

  @Test
  void a_step_name_may_contain_a_slash() {
    JsonNode task = task();
    tell(task, "load%2Fparts:1", 1, StepState.RUNNING, 1).ok();
    assertThat(holdfast.queries().steps(id(task)).getFirst().id()).isEqualTo("load/parts:1");
  }

  private PendingCommand.Recovery asked(JsonNode task, CommandAction action, String step) {
    holdfast
        .jobs()
        .command(id(task), new JobCommand(action, step, "ada", "it looks odd"), Tenant.ANY);
    return Objects.requireNonNull(holdfast.queries().pendingCommand(id(task)).recovery());
  }

  @Test
  void a_request_is_in_every_heartbeat_response_until_it_is_handled() {
    JsonNode task = task();
    Map<String, Object> beat = Map.of("attempt", 1, "workerId", "w1");
    tell(task, "fetch", 1, StepState.RUNNING, 1);
    tell(task, "fetch", 1, StepState.FAILED, 1);
    assertThat(callback(task, "heartbeat", beat).ok().has("liveControl")).isFalse();
    PendingCommand.Recovery request = asked(task, CommandAction.RETRY_STEP, "fetch");
    JsonNode heard = callback(task, "heartbeat", beat).ok().get("liveControl");
    assertThat(heard.get("paused").asBoolean()).isFalse();
    JsonNode recovery = heard.get("recovery");
    assertThat(recovery.get("action").asText()).isEqualTo("retry_step");
    assertThat(recovery.get("strategy").asText()).isEqualTo("soft_reset");
    assertThat(recovery.get("requestedBy").asText()).isEqualTo("ada");
    String updatedAt = recovery.get("updatedAt").asText();
    assertThat(updatedAt).isEqualTo(request.updatedAt().toString());

    Map<String, Object> handling = Map.of("handledCommand", updatedAt);
    tell(task, "load", 2, StepState.RUNNING, 1, handling).is(422, "invalid_value");
    for (int sent = 0; sent < 2; sent++) {
      tell(task, "fetch", 1, StepState.RUNNING, 2, handling).ok();
    }
    assertThat(callback(task, "heartbeat", beat).ok().has("liveControl")).isFalse();
    assertThat(types(task))
        .endsWith(EventType.RECOVERY_ACK, EventType.STEP_STARTED)
        .containsOnlyOnce(EventType.RECOVERY_ACK);
    assertThat(told(task).get(told(task).size() - 2).data().text())
        .contains("retry_step", "ada", updatedAt);
  }

  @Test
  void pending_requests_and_the_last_failure_come_with_the_task() {
    JsonNode first = task();
    assertThat(first.has("liveControl")).isFalse();
    assertThat(first.has("retryContext")).isFalse();
    tell(first, "fetch", 1, StepState.FAILED, 1);
    PendingCommand.Recovery request = asked(first, CommandAction.HARD_RESET_STEP, "fetch");
    holdfast
        .jobs()
        .command(id(first), new JobCommand(CommandAction.PAUSE, null, "ada", "wait"), Tenant.ANY);
    callback(
            first,
            "completed",
            failedBody(
                1,
                Map.of(
                    "category", "INFRASTRUCTURE",
                    "code", "DISK_FULL",
                    "message", "no space left",
                    "stackTrace", "a long story",
                    "retryAfterMs", 0)))
        .ok();
    JsonNode second = leased();
    assertThat(second.get("attempt").asInt()).isEqualTo(2);
    JsonNode asked = second.get("liveControl");
    assertThat(asked.get("paused").asBoolean()).isTrue();
    assertThat(asked.get("takeover").asBoolean()).isFalse();
    assertThat(asked.get("recovery").get("action").asText()).isEqualTo("hard_reset_step");
    assertThat(asked.get("recovery").get("updatedAt").asText())
        .isEqualTo(request.updatedAt().toString());
    JsonNode failed = second.get("retryContext");
    assertThat(failed.get("category").asText()).isEqualTo("INFRASTRUCTURE");
    assertThat(failed.get("code").asText()).isEqualTo("DISK_FULL");
    assertThat(failed.get("message").asText()).isEqualTo("no space left");
    assertThat(failed.toString()).doesNotContain("story");
  }

  @Test
  void a_request_that_another_one_replaced_is_not_handled_in_its_place() {
    JsonNode task = task();
    tell(task, "fetch", 1, StepState.FAILED, 1);
    PendingCommand.Recovery first = asked(task, CommandAction.RETRY_STEP, "fetch");
    PendingCommand.Recovery second = asked(task, CommandAction.HARD_RESET_STEP, "fetch");
    tell(
            task,
            "fetch",
            1,
            StepState.RUNNING,
            2,
            Map.of("handledCommand", first.updatedAt().toString()))
        .ok();
    assertThat(holdfast.queries().pendingCommand(id(task)).recovery()).isEqualTo(second);
    assertThat(types(task)).doesNotContain(EventType.RECOVERY_ACK);
  }

  @Test
  void a_resume_from_a_step_drops_the_checkpoints_after_it() {
    JsonNode task = task();
    for (int step = 1; step <= 3; step++) {
      tell(task, "s" + step, step, StepState.DONE, 1, Map.of("result", step));
    }
    PendingCommand.Recovery request = asked(task, CommandAction.RESUME_FROM_STEP, "s2");
    tell(
            task,
            "s2",
            2,
            StepState.RUNNING,
            2,
            Map.of("handledCommand", request.updatedAt().toString()))
        .ok();
    assertThat(holdfast.queries().steps(id(task)))
        .extracting(StepStatus::state)
        .containsExactly(StepState.DONE, StepState.RUNNING, StepState.FAILED);
    assertThat(resumed(task)).singleElement(STRING).contains("\"strategy\": \"hard_reset\"");
  }
}
