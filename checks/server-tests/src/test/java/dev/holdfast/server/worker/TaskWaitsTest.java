package dev.holdfast.server.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.server.Client;
import dev.holdfast.server.ServerTest;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Workers in any language wait, and start jobs, by the calls of a task. */
public class TaskWaitsTest extends ServerTest {
  private static final Map<String, Object> CONTRACT =
      Map.of("id", "contract", "sort", "SIGNAL", "signal", "contract");

  TaskWaitsTest(TestDatabase db) {
    super(db);
  }

  private static JobId id(JsonNode task) {
    return JobId.parse(task.get("taskId").asText());
  }

  private JsonNode task() {
    enqueued();
    return leased();
  }

  private Client.Reply waits(JsonNode task, Map<String, ?> wait) {
    return callback(task, "wait", Map.of("attempt", task.get("attempt").asInt(), "wait", wait));
  }

  private Client.Reply starts(JsonNode task, String id, Object... payloads) {
    List<Map<String, Object>> jobs =
        List.of(payloads).stream()
            .map(payload -> Map.of("kind", "count-words", "payload", payload))
            .toList();
    return callback(
        task,
        "children",
        Map.of("attempt", task.get("attempt").asInt(), "startedAs", id, "jobs", jobs));
  }

  private JobStatus status(JsonNode task) {
    return holdfast.find(id(task)).orElseThrow();
  }

  /** The same job once more, when its wait is over. */
  private JsonNode leasedAgain(JsonNode task) {
    await().until(() -> status(task).state() == JobState.PENDING);
    JsonNode again = leased();
    assertThat(id(again)).isEqualTo(id(task));
    return again;
  }

  @Test
  void a_later_attempt_gets_what_its_wait_has_brought_however_often_it_asks() {
    JsonNode first = task();
    for (int i = 0; i < 2; i++) {
      assertThat(waits(first, CONTRACT).ok().get("outcome").asText()).isEqualTo("SUSPENDED");
    }
    assertThat(status(first).state()).isEqualTo(JobState.WAITING);
    callback(first, "heartbeat", Map.of("attempt", 1, "workerId", "w1")).is(410, "task_expired");

    holdfast.signal(id(first), "contract", Map.of("number", "C-17"));
    JsonNode second = leasedAgain(first);
    for (int i = 0; i < 2; i++) {
      JsonNode over = waits(second, CONTRACT).ok();
      assertThat(over.get("outcome").asText()).isEqualTo("OVER");
      assertThat(over.get("end").get("outcome").asText()).isEqualTo("SIGNAL");
      assertThat(over.get("payload").get("number").asText()).isEqualTo("C-17");
    }
    waits(first, CONTRACT).is(409, "attempt_mismatch");
    callback(second, "completed", Map.of("attempt", 2, "workerId", "w1", "outcome", "SUCCEEDED"))
        .ok();
  }

  @Test
  void secrets_in_a_question_are_not_stored() {
    Map<String, Object> wait =
        Map.of(
            "id",
            "limit",
            "sort",
            "APPROVAL",
            "question",
            Map.of("text", "Raise it by password=hunter22 ?", "details", "token=hunter22"));
    JsonNode byTask = task();
    waits(byTask, wait).ok();
    JsonNode byLease = task();
    client
        .post(
            "/v1/leases/suspend",
            Map.of(
                "taskId",
                id(byLease).toString(),
                "attempt",
                1,
                "workerId",
                "w1",
                "index",
                1,
                "wait",
                wait),
            null)
        .ok();
    for (JsonNode task : List.of(byTask, byLease)) {
      OpenWait.Asked asked =
          Objects.requireNonNull(Objects.requireNonNull(status(task).waitsFor()).question());
      assertThat(asked.text()).isEqualTo("Raise it by password=*** ?");
      assertThat(asked.details()).isEqualTo("token=***");
    }
    for (String table : List.of("job", "event")) {
      assertThat(
              db.count(
                  "SELECT count(*) FROM holdfast.%s t WHERE position('hunter22' IN t::text) > 0"
                      .formatted(table)))
          .as(table)
          .isZero();
    }
  }

  private List<JsonNode> leasedWith(Object... versions) {
    List<JsonNode> tasks = new ArrayList<>();
    client
        .post(
            "/v1/queues/work/lease",
            Map.of("workerId", "w1", "max", 10, "versions", List.of(versions)),
            null)
        .ok()
        .get("tasks")
        .forEach(tasks::add);
    return tasks;
  }

  private static Map<String, Object> version(String kind, int version) {
    return Map.of("kind", kind, "version", version);
  }

  @Test
  void a_task_is_leased_to_workers_that_have_the_version_with_which_it_has_begun() {
    JsonNode first = task();
    String kind = first.get("kind").asText();
    assertThat(first.has("version")).isFalse();
    callback(first, "wait", Map.of("attempt", 1, "wait", CONTRACT, "version", 2)).ok();
    assertThat(status(first).version()).isEqualTo(2);
    holdfast.signal(id(first), "contract", "C-17");
    await().until(() -> status(first).state() == JobState.PENDING);
    assertThat(leasedWith()).isEmpty();
    assertThat(leasedWith(version(kind, 1), version("other", 2))).isEmpty();
    assertThat(holdfast.queries().warnings(Tenant.ANY, Duration.ZERO).unserved()).hasSize(1);
    List<JsonNode> again = leasedWith(version(kind, 1), version(kind, 2));
    assertThat(again).hasSize(1);
    assertThat(again.getFirst().get("version").asInt()).isEqualTo(2);
    assertThat(status(first).attempt()).isEqualTo(2);
    await()
        .until(() -> holdfast.queries().warnings(Tenant.ANY, Duration.ZERO).unserved().isEmpty());
    client
        .post(
            "/v1/queues/work/lease",
            Map.of("workerId", "w1", "versions", List.of(version(kind, 0))),
            null)
        .is(422, "invalid_value");
    callback(again.getFirst(), "wait", Map.of("attempt", 2, "wait", CONTRACT, "version", 99_999))
        .is(422, "invalid_value");
  }

  @Test
  void a_step_and_a_start_of_jobs_keep_the_version_too() {
    JsonNode steps = task();
    client
        .put(
            "/v1/tasks/%s/steps/one".formatted(id(steps)),
            Map.of("attempt", 1, "stepIndex", 1, "state", "DONE", "stepAttempt", 1, "version", 7),
            steps.get("taskToken").asText())
        .ok();
    assertThat(status(steps).version()).isEqualTo(7);
    JsonNode starts = task();
    callback(
            starts,
            "children",
            Map.of(
                "attempt",
                1,
                "startedAs",
                "c",
                "version",
                8,
                "jobs",
                List.of(Map.of("kind", "count-words"))))
        .ok();
    assertThat(status(starts).version()).isEqualTo(8);
  }

  @Test
  void
      a_fork_says_that_it_may_have_steps_and_reads_results_of_jobs_that_the_original_has_started() {
    JsonNode task = task();
    List<String> children = new ArrayList<>();
    starts(task, "count", 1, 2).ok().get("jobs").forEach(each -> children.add(each.asText()));
    db.sql(
        "UPDATE holdfast.job SET state = 'SUCCEEDED', finished_at = now(), result = '5'"
            + " WHERE parent_id = ?",
        id(task).value());
    waits(task, CONTRACT).ok();
    JobId fork =
        holdfast
            .jobs()
            .fork(id(task), new JobFork("contract", 1, null, null), "ada", Tenant.ANY)
            .jobs()
            .getFirst();
    JsonNode leased = leased();
    assertThat(id(leased)).isEqualTo(fork);
    assertThat(leased.get("mayHaveSteps").asBoolean()).isTrue();
    List<String> again = new ArrayList<>();
    starts(leased, "count", 1, 2).ok().get("jobs").forEach(each -> again.add(each.asText()));
    assertThat(again).isEqualTo(children);
    JsonNode ends =
        callback(leased, "children/ends", Map.of("attempt", 1, "jobs", again)).ok().get("jobs");
    assertThat(ends).hasSize(2);
    assertThat(ends.get(0).get("result").asInt()).isEqualTo(5);
  }

  @Test
  void one_call_tells_a_later_attempt_what_all_waits_before_it_have_brought() {
    JsonNode first = task();
    starts(first, "count", "one").ok();
    assertThat(leased().get("kind").asText()).isEqualTo("count-words");
    holdfast.signal(id(first), "contract", Map.of("number", "C-17"));
    waits(first, CONTRACT).ok();
    Map<String, Object> limit =
        Map.of("id", "limit", "sort", "APPROVAL", "question", Map.of("text", "Raise it?"));
    assertThat(waits(first, limit).ok().get("outcome").asText()).isEqualTo("SUSPENDED");
    Decision decision = new Decision(true, "ada", "fine");
    holdfast.jobs().decide(id(first), "limit", decision, Role.OPERATOR, Tenant.ANY);

    JsonNode second = leasedAgain(first);
    JsonNode known =
        client
            .get("/v1/tasks/" + id(second) + "/steps", second.get("taskToken").asText())
            .ok()
            .get("steps");
    assertThat(known)
        .extracting(
            step ->
                step.get("stepId").asText()
                    + " "
                    + step.get("state").asText()
                    + " "
                    + step.get("waitEnd").get("outcome").asText())
        .containsExactly("count DONE STARTED", "contract DONE SIGNAL", "limit DONE APPROVED");
    assertThat(known.get(0).get("waitEnd").get("jobs").asInt()).isEqualTo(1);
    assertThat(known.get(1).get("checkpoint").get("number").asText()).isEqualTo("C-17");
    assertThat(known.get(2).get("waitEnd").get("comment").asText()).isEqualTo("fine");
    assertThat(known.get(2).get("waitEnd").get("by").asText()).isEqualTo("ada");
  }

  @Test
  void a_wait_that_an_operator_wants_done_again_is_asked_for_again_with_all_after_it() {
    JsonNode first = task();
    holdfast.signal(id(first), "contract", "C-17");
    waits(first, CONTRACT).ok();
    starts(first, "count", "one").ok();
    JobId child = id(leased());
    Map<String, Object> nap = Map.of("id", "nap", "sort", "SLEEP", "withinMs", 100_000);
    waits(first, nap).ok();

    JobCommand back = new JobCommand(CommandAction.RESUME_FROM_STEP, "contract", "ada", "again");
    assertThat(holdfast.jobs().command(id(first), back, Tenant.ANY).answer())
        .isEqualTo(JobCommand.Answer.ACCEPTED);
    JsonNode second = leasedAgain(first);
    for (int i = 0; i < 2; i++) {
      assertThat(waits(second, CONTRACT).ok().get("outcome").asText()).isEqualTo("SUSPENDED");
    }
    assertThat(holdfast.queries().pendingCommand(id(first))).isEqualTo(PendingCommand.NONE);
    assertThat(holdfast.queries().timeline(id(first)))
        .extracting(JobEvent::type)
        .contains("task.control.recovery.ack")
        .doesNotContain("task.step.attempt.started");

    holdfast.signal(id(first), "contract", "C-18");
    JsonNode third = leasedAgain(first);
    assertThat(waits(third, CONTRACT).ok().get("payload").asText()).isEqualTo("C-18");
    JsonNode anew = starts(third, "count", "one", "two").ok().get("jobs");
    assertThat(anew).hasSize(2).noneMatch(job -> job.asText().equals(child.toString()));
    assertThat(waits(third, nap).ok().get("outcome").asText()).isEqualTo("SUSPENDED");
  }

  @Test
  void what_is_there_already_ends_no_attempt() {
    JsonNode task = task();
    holdfast.signal(id(task), "contract", "C-17");
    assertThat(waits(task, CONTRACT).ok().get("payload").asText()).isEqualTo("C-17");
    assertThat(status(task).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void a_task_has_steps_and_waits_in_one_order() {
    JsonNode task = task();
    client
        .put(
            "/v1/tasks/" + id(task) + "/steps/welcome",
            Map.of("attempt", 1, "stepIndex", 1, "state", "DONE", "stepAttempt", 1, "tookMs", 3),
            task.get("taskToken").asText())
        .ok();
    waits(task, Map.of("id", "cool-off", "sort", "SLEEP", "withinMs", 0)).ok();
    starts(task, "count", "one").ok();
    assertThat(holdfast.queries().steps(id(task)))
        .extracting(step -> step.index() + " " + step.id())
        .containsExactly("1 welcome", "2 cool-off", "3 count");
  }

  @Test
  void jobs_are_started_once_and_their_parent_waits_for_them() {
    JsonNode task = task();
    JsonNode started = starts(task, "count", "one two", "three").ok().get("jobs");
    assertThat(started).hasSize(2);
    Map<String, Object> join =
        Map.of("id", "counted", "sort", "CHILDREN", "started", List.of("count"));
    assertThat(waits(task, join).ok().get("outcome").asText()).isEqualTo("SUSPENDED");

    List<JsonNode> children = List.of(leased(), leased());
    assertThat(children)
        .extracting(child -> child.get("taskId").asText())
        .containsExactlyInAnyOrder(started.get(0).asText(), started.get(1).asText());
    for (JsonNode child : children) {
      int words = child.get("payload").asText().split(" ").length;
      callback(
              child,
              "completed",
              Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED", "output", words))
          .ok();
    }

    JsonNode again = leasedAgain(task);
    assertThat(starts(again, "count", "one two", "three").ok().get("jobs")).isEqualTo(started);
    assertThat(waits(again, join).ok().get("end").get("outcome").asText()).isEqualTo("ENDED");
    JsonNode ends =
        callback(again, "children/ends", Map.of("attempt", 2, "jobs", started)).ok().get("jobs");
    assertThat(ends)
        .extracting(end -> end.get("state").asText() + " " + end.get("result").asInt())
        .containsExactly("SUCCEEDED 2", "SUCCEEDED 1");
  }

  @Test
  void a_task_goes_on_as_another_one_once() {
    JsonNode task = task();
    Map<String, Object> next =
        Map.of(
            "attempt", 1, "workerId", "w1", "outcome", "CONTINUED", "payload", Map.of("round", 2));
    for (int i = 0; i < 2; i++) {
      JsonNode answer = callback(task, "completed", next).ok();
      assertThat(answer.get("finalState").asText()).isEqualTo("SUCCEEDED");
    }
    JsonNode second = leased();
    assertThat(second.get("taskId")).isNotEqualTo(task.get("taskId"));
    assertThat(second.get("payload").get("round").asInt()).isEqualTo(2);
    callback(task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "CONTINUED"))
        .is(422, "missing_field");
  }

  @Test
  void an_id_belongs_to_what_it_was_first() {
    JsonNode task = task();
    waits(task, Map.of("id", "pause", "sort", "SLEEP", "withinMs", 0)).ok();
    waits(task, Map.of("id", "pause", "sort", "SIGNAL", "signal", "go")).is(422, "id_reused");
    starts(task, "pause", "one").is(422, "id_reused");
    starts(task, "count", "one").ok();
    starts(task, "count", "one", "two").is(422, "id_reused");
    waits(task, Map.of("id", "count", "sort", "CHILDREN", "started", List.of("count")))
        .is(422, "id_reused");
    assertThat(status(task).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void what_cannot_be_asked_for_is_refused_and_changes_nothing() {
    JsonNode task = task();
    waits(task, Map.of("id", "x", "sort", "SLEEP")).is(422, "missing_field");
    waits(task, Map.of("id", "x", "sort", "SLEEP", "withinMs", -1)).is(422, "bad_delay");
    waits(task, Map.of("id", "x\ny", "sort", "SLEEP", "withinMs", 1)).is(422, "bad_name");
    waits(task, Map.of("id", "x", "sort", "DREAM")).is(422, "invalid_value");
    waits(task, Map.of("id", "x", "sort", "CHILDREN", "started", List.of())).is(422, "bad_limit");
    callback(task, "wait", Map.of("attempt", 1)).is(422, "missing_field");
    callback(task, "wait", Map.of("attempt", 2, "wait", CONTRACT)).is(403, "token_scope");
    callback(
            task,
            "children",
            Map.of(
                "attempt",
                1,
                "startedAs",
                "count",
                "jobs",
                Collections.nCopies(1_001, Map.of("kind", "k"))))
        .is(422, "invalid_value");
    String own = JobId.next().toString();
    callback(
            task,
            "children",
            Map.of(
                "attempt",
                1,
                "startedAs",
                "count",
                "jobs",
                List.of(Map.of("kind", "count-words", "id", own))))
        .is(422, "invalid_value");
    callback(
            task,
            "children",
            Map.of(
                "attempt",
                1,
                "startedAs",
                "count",
                "jobs",
                List.of(Map.of("kind", "count-words", "uniqueKey", "k"))))
        .is(422, "bad_unique");
    assertThat(status(task).state()).isEqualTo(JobState.RUNNING);
    assertThat(holdfast.queries().steps(id(task))).isEmpty();
  }

  @Test
  void an_attempt_that_lost_its_task_waits_for_nothing_and_starts_nothing() {
    JsonNode first = task();
    waits(first, Map.of("id", "pause", "sort", "SLEEP", "withinMs", 0)).ok();
    starts(first, "count", "one").ok();
    db.expireLease(id(first).value());
    holdfast.store().maintenance().reap(Duration.ZERO);
    for (int i = 0; i < 2; i++) {
      assertThat(leased()).isNotNull();
    }
    waits(first, CONTRACT).is(409, "attempt_mismatch");
    waits(first, Map.of("id", "pause", "sort", "SLEEP", "withinMs", 0)).is(409, "attempt_mismatch");
    starts(first, "count", "one").is(409, "attempt_mismatch");
    starts(first, "others", "one").is(409, "attempt_mismatch");
    callback(first, "children/ends", Map.of("attempt", 1, "jobs", List.of(JobId.next().toString())))
        .is(409, "attempt_mismatch");
  }
}
