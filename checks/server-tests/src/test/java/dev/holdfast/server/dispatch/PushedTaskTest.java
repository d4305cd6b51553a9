package dev.holdfast.server.dispatch;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.server.Client;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks that are pushed to a worker. */
public class PushedTaskTest extends PushFixture {
  PushedTaskTest(TestDatabase db) {
    super(db);
  }

  @Test
  void a_task_is_posted_with_the_secret_and_completed_by_callback() throws InterruptedException {
    dispatch(10);
    JobId job = enqueued();
    JsonNode task = pushed();
    assertThat(task.get("taskId").asText()).isEqualTo(job.toString());
    assertThat(authorizations.take()).isEqualTo("Bearer " + SECRET);
    callback(task, "started", Map.of("attempt", 1, "workerId", "w9")).ok();
    callback(task, "log", Map.of("attempt", 1, "lines", List.of("at work"))).ok();
    assertThat(client.get("/v1/jobs/" + job + "/log", null).ok().get("parts").get(0).get("text"))
        .hasToString("\"at work\\n\"");
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    assertThat(holdfast.queries().attempts(job).getFirst().worker()).isEqualTo("w9");
  }

  @Test
  void attributes_of_a_job_come_with_the_task_and_its_trace_with_the_request()
      throws InterruptedException {
    dispatch(10);
    holdfast.enqueue(brings(Job.of("echo").queue(QUEUE)));
    JsonNode task = pushed();
    assertThat(task.get("assetId").asText()).isEqualTo("orders");
    assertThat(task.get("partitionKey").asText()).isEqualTo("2026-11-17");
    assertThat(task.get("resources").toString()).isEqualTo("{\"cpu\":2}");
    assertThat(task.get("traceparent").asText()).isEqualTo(TRACE);
    assertThat(traces.take()).isEqualTo(TRACE);
    enqueued();
    assertThat(pushed().has("traceparent")).isFalse();
    assertThat(traces.take()).isEqualTo("null");
  }

  @Test
  void a_version_is_refused_since_a_task_that_has_one_would_not_be_pushed_again()
      throws InterruptedException {
    dispatch(10);
    JobId job = enqueued();
    JsonNode task = pushed();
    begun(task);
    Map<String, Object> go = Map.of("id", "go", "sort", "SIGNAL", "signal", "go");
    Client.Reply refused =
        callback(task, "wait", Map.of("attempt", 1, "wait", go, "version", 2))
            .is(422, "invalid_value");
    assertThat(refused.body().get("message").asText()).contains("'version'", "pushed");
    Map<String, Object> jobs =
        Map.of("startedAs", "more", "jobs", List.of(Map.of("kind", "echo")), "attempt", 1);
    Map<String, Object> versioned = new HashMap<>(jobs);
    versioned.put("version", 2);
    callback(task, "children", versioned).is(422, "invalid_value");
    Map<String, Object> step =
        Map.of("attempt", 1, "stepIndex", 1, "state", "DONE", "stepAttempt", 1, "version", 2);
    client
        .put("/v1/tasks/%s/steps/one".formatted(job), step, task.get("taskToken").asText())
        .is(422, "invalid_value");
    callback(task, "wait", Map.of("attempt", 1, "wait", go)).ok();
    holdfast.signal(job, "go", "now");
    assertThat(pushed().get("attempt").asInt()).isEqualTo(2);
  }

  @Test
  void commands_of_operators_come_with_the_task() throws InterruptedException {
    JobId job = enqueued();
    holdfast
        .jobs()
        .command(job, new JobCommand(CommandAction.PAUSE, null, "ada", "wait"), Tenant.ANY);
    dispatch(10);
    assertThat(pushed().get("liveControl").get("paused").asBoolean()).isTrue();
  }

  @Test
  void no_more_tasks_than_the_limit_are_in_flight_and_a_completion_admits_the_next()
      throws InterruptedException {
    dispatch(2);
    for (int i = 0; i < 5; i++) {
      enqueued();
    }
    JsonNode first = pushed();
    pushed();
    await().during(Duration.ofMillis(1500)).atMost(SOON).until(() -> asked.get() == 2);
    callback(first, "completed", succeeded(first)).ok();
    assertThat(pushed().get("taskId")).isNotEqualTo(first.get("taskId"));
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_task_that_a_worker_rejects_is_pushed_again_without_using_budget()
      throws InterruptedException {
    status = 503;
    dispatch(1);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 3);
    status = 200;
    JsonNode task = pushed();
    callback(task, "completed", succeeded(task)).ok();
    assertThat(state(job)).isEqualTo("SUCCEEDED");
    assertThat(holdfast.find(job).orElseThrow().failures()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"500, RETRYING, DISPATCH_FAILED", "422, FAILED, DISPATCH_REFUSED"})
  void an_error_response_after_the_start_ends_the_attempt_with_its_status_and_text(
      int answer, String state, String code) {
    status = answer;
    before =
        task -> {
          begun(task);
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> state(job).equals(state));
    assertThat(holdfast.find(job).orElseThrow().crashes()).isZero();
    Failure failure = Objects.requireNonNull(holdfast.queries().attempts(job).getLast().failure());
    assertThat(failure.code()).isEqualTo(code);
    assertThat(failure.message())
        .contains("status " + answer, "no column 'price'")
        .doesNotContain(SECRET);
  }

  @ParameterizedTest
  @ValueSource(ints = {502, 503, 504})
  void what_a_proxy_answers_after_the_start_does_not_end_the_attempt(int answer) {
    status = answer;
    before =
        task -> {
          begun(task);
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 1);
    await().during(Duration.ofSeconds(2)).atMost(SOON).until(() -> state(job).equals("RUNNING"));
  }

  @Test
  void a_task_that_a_busy_worker_refuses_keeps_its_place_until_another_task_ends()
      throws InterruptedException {
    refusal = 503;
    AtomicBoolean busy = new AtomicBoolean();
    before =
        task -> {
          boolean free = busy.compareAndSet(false, true);
          if (free) {
            begun(task);
          }
          return free;
        };
    dispatch(10);
    for (int i = 0; i < 3; i++) {
      enqueued();
    }
    for (int i = 0; i < 3; i++) {
      JsonNode task = pushed();
      await().atMost(SOON).until(() -> inState("RUNNING") == 1);
      // Nothing waits for a time to pass.
      assertThat(db.queryOne(Long.class, "SELECT count(*) FROM holdfast.job WHERE run_at > now()"))
          .isZero();
      busy.set(false);
      callback(task, "completed", succeeded(task)).ok();
    }
    assertThat(problems()).doesNotContain("dispatch");
  }

  private long inState(String state) {
    return db.queryOne(
        Long.class, "SELECT count(*) FROM holdfast.job WHERE state = '" + state + "'");
  }

  @Test
  void a_task_cancelled_before_its_start_is_not_pushed_again() {
    status = 500;
    before =
        task -> {
          holdfast
              .jobs()
              .cancel(
                  List.of(JobId.parse(task.get("taskId").asText())), false, "enough", Tenant.ANY);
          callback(task, "started", Map.of("attempt", 1, "workerId", "w9"))
              .is(409, "task_already_terminal");
          return true;
        };
    dispatch(10);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> state(job).equals("CANCELLED"));
    await().during(Duration.ofSeconds(2)).atMost(SOON).until(() -> asked.get() == 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 409, 413, 422})
  void a_task_that_a_worker_rejects_permanently_is_not_pushed_again(int refusal) {
    status = refusal;
    dispatch(1);
    JobId job = enqueued();
    await().atMost(SOON).until(() -> state(job).equals("FAILED"));
    assertThat(asked).hasValue(1);
    Failure failure = Objects.requireNonNull(holdfast.find(job).orElseThrow().failure());
    assertThat(failure.code()).isEqualTo("DISPATCH_REFUSED");
    assertThat(failure.message())
        .contains("status " + refusal, "no column 'price'")
        .doesNotContain(SECRET);
    assertThat(holdfast.queries().attempts(job)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 425, 429, 500})
  @Execution(ExecutionMode.CONCURRENT)
  void a_task_is_pushed_again_to_a_worker_that_was_busy(int refusal) throws InterruptedException {
    status = refusal;
    dispatch(1);
    enqueued();
    await().atMost(SOON).until(() -> asked.get() >= 2);
    status = 200;
    pushed();
  }

  @Test
  void rejected_tasks_do_not_hold_up_others() throws InterruptedException {
    before = task -> !task.get("kind").asText().equals("bad");
    for (int i = 0; i < 8; i++) {
      holdfast.enqueue(Job.of("bad").queue(QUEUE));
    }
    JobId good = enqueued();
    dispatch(1);
    assertThat(pushed().get("taskId").asText()).isEqualTo(good.toString());
    assertThat(asked).hasValue(9);
    assertThat(problems()).doesNotContain("dispatch");
  }
}
