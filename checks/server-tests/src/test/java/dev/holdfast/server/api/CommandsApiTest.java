package dev.holdfast.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Steps as shown to operators, and commands to jobs. */
public class CommandsApiTest extends ServerTest {
  private static final String DIFF = "diff --git a/ä b/ä\n+<script>alert(1)</script>\n";

  CommandsApiTest(TestDatabase db) {
    super(db);
  }

  private Lease running() {
    JobId job =
        holdfast
            .enqueue(
                Job.of("echo", Map.of("steps", List.of(Map.of("id", "a"), Map.of("id", "b/1"))))
                    .queue(QUEUE))
            .id();
    holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "w1", Duration.ofMinutes(5)));
    return new Lease(job, 1);
  }

  private void step(Lease lease, String id, int index, StepState state) {
    step(lease, id, index, state, new Json("{\"made\": 1}"));
  }

  private void step(Lease lease, String id, int index, StepState state, Json result) {
    holdfast
        .jobs()
        .report(
            List.of(
                new Report.Step(
                    lease,
                    id,
                    index,
                    state,
                    1,
                    false,
                    state == StepState.DONE ? result : null,
                    state == StepState.DONE
                        ? Patch.of(DIFF.getBytes(StandardCharsets.UTF_8))
                        : null,
                    null,
                    null,
                    List.of())));
  }

  private Client.Reply ask(JobId job, CommandAction action, @Nullable String step) {
    return ask(job, action, step, null);
  }

  private Client.Reply ask(
      JobId job, CommandAction action, @Nullable String step, @Nullable String key) {
    Map<String, Object> body = new HashMap<>();
    body.put("action", action.text());
    body.put("reason", "it looks odd");
    if (step != null) {
      body.put("stepId", step);
    }
    return client.post("/v1/jobs/" + job + "/control", body, key);
  }

  @Test
  void steps_are_shown_with_their_checkpoints() {
    Lease lease = running();
    String steps = "/v1/jobs/" + lease.job() + "/steps";
    assertThat(client.get(steps, null).ok().get("steps")).isEmpty();
    step(lease, "a", 1, StepState.DONE);
    step(lease, "b/1", 2, StepState.RUNNING);
    JsonNode shown = client.get(steps, null).ok().get("steps");
    assertThat(shown).hasSize(2);
    assertThat(shown).noneMatch(step -> step.has("checkpoint"));
    assertThat(shown.get(0).get("patchBytes").asInt())
        .isEqualTo(DIFF.getBytes(StandardCharsets.UTF_8).length);
    assertThat(shown.get(1).get("stepId").asText()).isEqualTo("b/1");
    assertThat(shown.get(1).get("finishedAt").isNull()).isTrue();
    JsonNode one = client.get(steps + "/a", null).ok();
    assertThat(one.get("stepIndex").asInt()).isEqualTo(1);
    assertThat(one.get("checkpoint").get("made").asInt()).isEqualTo(1);
    assertThat(client.get(steps + "/b%2F1", null).ok().has("checkpoint")).isFalse();
    client.get(steps + "/c", null).is(404, "not_found");
    client.get(steps + "/a%20b", null).is(422, "bad_name");
  }

  @Test
  void a_list_of_steps_is_small_however_large_their_checkpoints_are() {
    Lease lease = running();
    Json large = new Json("\"" + "x".repeat(1_000_000) + "\"");
    for (int index = 1; index <= 20; index++) {
      step(lease, "s" + index, index, StepState.DONE, large);
    }
    String steps = "/v1/jobs/" + lease.job() + "/steps";
    String list = client.get(steps, null).response().body();
    assertThat(list.length()).isLessThan(10_000);
    assertThat(client.get(steps + "/s20", null).ok().get("checkpoint").asText()).hasSize(1_000_000);
    assertThat(holdfast.queries().steps(lease.job())).allMatch(s -> large.equals(s.checkpoint()));
  }

  @Test
  void a_patch_is_served_as_a_download_that_browsers_do_not_render() {
    Lease lease = running();
    step(lease, "a", 1, StepState.DONE);
    step(lease, "b/1", 2, StepState.DONE);
    String steps = "/v1/jobs/" + lease.job() + "/steps/";
    HttpResponse<String> response = client.get(steps + "b%2F1/patch", null).response();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo(DIFF);
    assertThat(response.headers().firstValue("Content-Type")).contains("text/x-patch");
    assertThat(response.headers().firstValue("Content-Disposition"))
        .contains("attachment; filename=\"b-1.patch\"");
    assertThat(response.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    db.sql("UPDATE holdfast.step SET patch = convert_to('first', 'UTF8') WHERE step_id = 'a'");
    HttpResponse<String> all = client.get("/v1/jobs/" + lease.job() + "/patch", null).response();
    assertThat(all.body()).as("in the order of the steps").isEqualTo("first" + DIFF);
    assertThat(all.headers().firstValue("Content-Disposition"))
        .contains("attachment; filename=\"%s.patch\"".formatted(lease.job()));
    client.get("/v1/jobs/" + enqueued() + "/patch", null).is(404, "not_found");
    client.get(steps + "c/patch", null).is(404, "not_found");
    client.get(steps + "b/1/patch", null).is(404, "not_found");
  }

  @Test
  void a_pause_is_in_force_until_it_is_resumed() {
    JobId job = running().job();
    assertThat(client.get("/v1/jobs/" + job, null).ok().has("liveControl")).isFalse();
    JsonNode paused = ask(job, CommandAction.PAUSE, null).ok();
    assertThat(paused.get("paused").asBoolean()).isTrue();
    assertThat(paused.get("takeover").asBoolean()).isFalse();
    assertThat(paused.get("recovery").isNull()).isTrue();
    assertThat(paused.get("heldBy").get("reason").asText()).isEqualTo("it looks odd");
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("liveControl")).isEqualTo(paused);
    assertThat(ask(job, CommandAction.TAKEOVER, null).ok().get("takeover").asBoolean()).isTrue();
    JsonNode resumed = ask(job, CommandAction.RESUME, null).ok();
    assertThat(resumed.get("paused").asBoolean()).isFalse();
    assertThat(resumed.get("takeover").asBoolean()).isFalse();
    assertThat(client.get("/v1/jobs/" + job, null).ok().has("liveControl")).isFalse();
  }

  @Test
  void a_request_records_the_name_of_its_key() {
    Lease lease = running();
    step(lease, "a", 1, StepState.FAILED);
    ask(lease.job(), CommandAction.RETRY_STEP, "a").ok();
    assertThat(requestedBy(lease.job())).isEqualTo("local");
    String key = key(Role.OPERATOR, null);
    JsonNode recovery =
        ask(lease.job(), CommandAction.HARD_RESET_STEP, "a", key).ok().get("recovery");
    assertThat(requestedBy(lease.job())).isEqualTo("test");
    assertThat(recovery.get("action").asText()).isEqualTo("hard_reset_step");
    assertThat(recovery.get("strategy").asText()).isEqualTo("hard_reset");
    assertThat(recovery.get("stepId").asText()).isEqualTo("a");
    assertThat(recovery.get("reason").asText()).isEqualTo("it looks odd");
    JobEvent told = holdfast.queries().timeline(lease.job()).getLast();
    assertThat(told.type()).isEqualTo(EventType.CONTROL + "hard_reset_step");
    assertThat(told.data().text()).contains("\"requestedBy\": \"test\"", "it looks odd");
  }

  private String requestedBy(JobId job) {
    PendingCommand.Recovery asked = holdfast.queries().pendingCommand(job).recovery();
    return Objects.requireNonNull(asked).requestedBy();
  }

  @Test
  void an_impossible_command_is_rejected_with_a_remedy() {
    Lease lease = running();
    JobId job = lease.job();
    ask(job, CommandAction.RETRY_STEP, "nonsense").is(404, "no_such_step");
    ask(job, CommandAction.RESUME_FROM_STEP, "b/1").is(409, "step_not_reached");
    step(lease, "a", 1, StepState.DONE);
    assertThat(message(ask(job, CommandAction.RETRY_STEP, "a").is(409, "step_done")))
        .contains("resume_from_step");
    ask(job, CommandAction.RESUME_FROM_STEP, "b/1").ok();
    assertThat(message(ask(enqueued(), CommandAction.TAKEOVER, null).is(409, "job_not_running")))
        .contains("pause");
    ask(JobId.next(), CommandAction.PAUSE, null).is(404, "not_found");
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    Client.Reply ended = ask(job, CommandAction.PAUSE, null).is(409, "job_already_terminal");
    assertThat(ended.body().get("state").asText()).isEqualTo("SUCCEEDED");
    assertThat(client.get("/v1/jobs/" + job, null).ok().has("liveControl")).isFalse();
  }

  @Test
  void a_pause_or_takeover_of_a_job_without_steps_is_rejected() {
    JobId job = holdfast.enqueue(Job.of("echo").queue(QUEUE)).id();
    holdfast.jobs().claim(new ClaimRequest(QUEUE, 1, "w1", Duration.ofMinutes(5)));
    db.sql("UPDATE holdfast.job SET started_at = started_at - interval '1 minute'");
    for (CommandAction action : List.of(CommandAction.PAUSE, CommandAction.TAKEOVER)) {
      assertThat(message(ask(job, action, null).is(409, "job_without_steps")))
          .contains("cancel it");
    }
  }

  @Test
  void a_reset_lists_the_steps_it_drops_also_for_a_job_that_has_ended() {
    Lease lease = running();
    JobId job = lease.job();
    step(lease, "a", 1, StepState.DONE);
    step(lease, "b/1", 2, StepState.DONE);
    assertThat(ask(job, CommandAction.HARD_RESET_STEP, "b/1").ok().get("stepsToRepeat"))
        .extracting(JsonNode::asText)
        .containsExactly("b/1");
    holdfast.jobs().settle(new Settlement.Succeed(lease, null));
    assertThat(ask(job, CommandAction.RESUME_FROM_STEP, "a").ok().get("stepsToRepeat"))
        .extracting(JsonNode::asText)
        .containsExactly("a", "b/1");
    assertThat(client.get("/v1/jobs/" + job, null).ok().get("state").asText()).isEqualTo("PENDING");
  }

  @Test
  void a_step_is_accepted_only_while_its_job_is_taken_over() {
    Lease lease = running();
    JobId job = lease.job();
    step(lease, "a", 1, StepState.FAILED);
    assertThat(message(ask(job, CommandAction.ACCEPT_STEP, "a").is(409, "job_not_taken_over")))
        .contains("takeover");
    ask(job, CommandAction.TAKEOVER, null).ok();
    JsonNode accepted = ask(job, CommandAction.ACCEPT_STEP, "a").ok();
    assertThat(accepted.get("takeover").asBoolean()).isFalse();
    assertThat(accepted.get("recovery").get("action").asText()).isEqualTo("accept_step");
    assertThat(accepted.get("recovery").get("strategy").isNull()).isTrue();
  }

  private static String message(Client.Reply reply) {
    return reply.body().get("message").asText();
  }
}
