package dev.holdfast.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.wait.Question;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Cancels, retries and commands, given on the page. */
@OnlyWithAll
class JobActionsPageTest extends PageFixture {
  JobActionsPageTest(TestDatabase db) {
    super(db);
  }

  @Test
  void workers_are_shown_with_their_processes_and_receive_commands() {
    supervised(HealthStatus.HEALTHY);
    open("#/workers");
    browser.awaitText("worker:work:0", "healthy", "4711", "here");
    browser.press("Restart worker:work:0");
    browser.answer("a new release", "Restart");
    browser.awaitText("Sent restart to worker:work:0");
    assertThat(db.queryOne(String.class, "SELECT reason FROM holdfast.worker_command"))
        .isEqualTo("a new release");
    browser.press("Pause all …");
    browser.answer("", "Pause all");
    browser.awaitText("All workers have been paused since");
    browser.press("Resume all …");
    browser.answer("", "Resume all");
    browser.awaitNoText("All workers have been paused since");
  }

  // ---- actions

  @Test
  void a_job_is_cancelled_with_a_reason_and_retried() {
    JobId job = enqueued();
    open("#/jobs/" + job);
    browser.press("Cancel …");
    browser.answer("not needed <b>any</b> more", "Cancel the job");
    browser.awaitText("cancelled", "not needed <b>any</b> more");
    browser.press("Retry …");
    browser.answer("", "Retry the job");
    browser.awaitText("pending");
    assertThat(state(job)).isEqualTo("PENDING");
  }

  /** The attempt that is claimed next ends with this. */
  private void suspend(int index, Wait asked) {
    Lease lease =
        holdfast
            .jobs()
            .claim(new ClaimRequest(QUEUE, 1, "w", Duration.ofMinutes(5)))
            .jobs()
            .getFirst()
            .lease();
    holdfast.jobs().suspend(new Suspension(lease, index, asked));
  }

  @Test
  void what_a_job_asks_is_read_and_decided_and_what_it_waits_for_is_sent() {
    JobId job = holdfast.enqueue(Job.of("onboard").queue(QUEUE)).id();
    Question question =
        Question.of("Raise <b>the limit</b>?").details("of Ada").within(Duration.ofDays(2));
    suspend(1, new Wait.ForApproval("limit", question));
    open("#/jobs/" + job);
    browser.awaitText(
        "What it waits for", "Raise <b>the limit</b>?", "of Ada", "it counts as rejected");
    browser.press("Approve …");
    browser.type("dialog [name=comment]", "as agreed");
    browser.answer("", "Approve");
    browser.awaitNoText("What it waits for");
    assertThat(state(job)).isEqualTo("PENDING");
    assertThat(db.queryOne(String.class, "SELECT ended ->> 'comment' FROM holdfast.step"))
        .isEqualTo("as agreed");
    suspend(2, new Wait.ForSignal("contract", "contract", null));
    browser.awaitText("For the signal contract");
    browser.press("Send it …");
    browser.type("dialog [name=payload]", Keys.chord(Keys.CONTROL, "a"), "[17]");
    browser.answer("", "Send the signal");
    browser.awaitNoText("What it waits for");
    assertThat(db.queryOne(String.class, "SELECT payload::text FROM holdfast.signal"))
        .isEqualTo("[17]");
  }

  @Test
  void a_job_is_forked_from_a_step_and_the_fork_names_it() {
    JobId job = holdfast.enqueue(Job.of("onboard").queue(QUEUE)).id();
    suspend(1, new Wait.ForSignal("contract", "contract", null));
    open("#/jobs/" + job);
    browser.press("Fork …");
    expectedErrors.add("404");
    browser.type("dialog [name=fromStep]", "nothing");
    browser.press("//dialog", "Fork the job");
    browser.awaitText("no step 'nothing'", "it has contract");
    browser.type("dialog [name=fromStep]", Keys.chord(Keys.CONTROL, "a"), "contract");
    browser.type("dialog [name=payload]", "[17]");
    browser.answer("", "Fork the job");
    browser.awaitText("fork of …" + job.toString().substring(28), "Fork from", "pending");
    assertThat(
            db.queryOne(
                String.class,
                "SELECT payload::text FROM holdfast.job WHERE forked_from IS NOT NULL"))
        .isEqualTo("[17]");
    open("#/jobs/" + job);
    browser.awaitText("Forks");
  }

  @Test
  void the_list_says_what_a_job_waits_for_and_no_longer_once_it_has_come() {
    JobId job = holdfast.enqueue(Job.of("onboard").queue(QUEUE)).id();
    open("#/jobs");
    browser.awaitText("pending");
    suspend(1, new Wait.ForSignal("contract", "contract", Duration.ofDays(2)));
    // The stream says that it waits, and the list is read again for what.
    browser.awaitText("waits for the signal 'contract' until");
    holdfast.signal(job, "contract", 17);
    browser.awaitNoText("waits for the signal");
    Question question = Question.of("Raise <b>the limit</b>?");
    suspend(2, new Wait.ForApproval("limit", question));
    browser.awaitText("waits for a decision of role operator on 'limit': Raise <b>the limit</b>?");
  }

  @Test
  void a_job_that_succeeded_is_not_headed_by_the_failure_before() {
    enqueued();
    JsonNode task = leased();
    callback(task, "completed", Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED"))
        .ok();
    db.sql(
        "UPDATE holdfast.job SET failure = '{\"category\":\"INFRASTRUCTURE\","
            + "\"code\":\"X\",\"message\":\"m\",\"retryable\":true}'");
    open(job(task));
    browser.awaitText("succeeded", "Ran for");
    assertThat(browser.has("#failure")).isFalse();
  }

  @Test
  void a_running_job_is_paused_taken_over_resumed_and_its_steps_accepted_or_retried() {
    Map<String, Object> steps =
        Map.of("steps", List.of(Map.of("id", "fetch"), Map.of("id", "load")));
    holdfast.enqueue(Job.of("workspace", steps).queue(QUEUE));
    JsonNode task = leased();
    step(task, "fetch", 1, "RUNNING");
    step(task, "fetch", 1, "DONE");
    step(task, "load", 2, "RUNNING");
    JobId id = JobId.parse(task.get("taskId").asText());
    open(job(task));
    browser.press("Pause …");
    browser.answer("the API is down", "Pause");
    browser.awaitText("Paused by local: the API is down");
    assertThat(browser.buttons()).as("the job is not taken over").doesNotContain("Accept");
    browser.press("Resume …");
    browser.answer("", "Resume");
    browser.press("Take over …");
    browser.answer("", "Take over");
    browser.awaitText("Taken over by local: requested over HTTP");
    browser.press("Accept");
    browser.answer("loaded by hand", "Accept");
    browser.awaitText("accept_step of 'load' was requested by local: loaded by hand");
    for (String[] each :
        new String[][] {
          {"Retry", "Retry", "retry_step", "Uses no retry budget."},
          {"Reset", "Reset", "hard_reset_step", "from the checkpoints before it."},
          {
            "From here",
            "Go back",
            "resume_from_step",
            "in a new workspace. These completed steps will run again: fetch."
          }
        }) {
      browser.press(each[0]);
      assertThat(browser.awaitElement("dialog p").getText()).endsWith(each[3]);
      browser.answer("", each[1]);
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(() -> Wire.text(client.get("/v1/jobs/" + id, null).ok()).contains(each[2]));
    }
    browser.go(job(task) + "?tab=events");
    browser.awaitText("task.control");
    browser.go(job(task));
    fail(task, "it broke");
    browser.awaitText("BROKEN");
    browser.press("//tr[contains(., 'fetch')]", "From here");
    browser.answer("from the first one", "Go back");
    browser.awaitText("resume_from_step of 'fetch' was requested by local: from the first one");
    assertThat(state(id)).isEqualTo("PENDING");
  }

  @Test
  void no_pause_is_offered_for_a_job_without_steps() {
    enqueued();
    JsonNode task = leased();
    open(job(task));
    browser.awaitText("running", "Cancel …");
    assertThat(browser.text()).doesNotContain("Pause …").doesNotContain("Take over …");
    step(task, "fetch", 1, "RUNNING");
    browser.awaitText("Pause …", "Take over …");
  }

  @Test
  void a_takeover_shows_where_the_workspace_is() {
    enqueued();
    JsonNode task = leased();
    step(task, "fetch", 1, "RUNNING");
    JobId id = JobId.parse(task.get("taskId").asText());
    client.post("/v1/jobs/" + id + "/control", Map.of("action", "takeover"), null).ok();
    db.sql(
        """
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        VALUES (?, 100, 'task.control.recovery.ack', 1, now(),
                '{"action": "takeover", "workspace": "/srv/scratch/work"}')
        """,
        id.value());
    open(job(task));
    browser.awaitText("taken over", "Its workspace is /srv/scratch/work");
  }

  @Test
  void a_reset_to_an_earlier_step_shows_first_what_is_lost() {
    enqueued();
    JsonNode task = leased();
    step(task, "fetch", 1, "RUNNING");
    step(task, "fetch", 1, "DONE");
    callback(
            task,
            "completed",
            Map.of("attempt", 1, "workerId", "w1", "outcome", "SUCCEEDED", "output", 7))
        .ok();
    open(job(task));
    browser.press("From here");
    browser.awaitText(
        "These completed steps will run again: fetch.",
        "its result is deleted until it has a new one");
  }

  @Test
  void retrying_all_does_not_retry_cancelled_jobs() {
    enqueued();
    fail(leased(), "it broke");
    JobId cancelled = enqueued();
    holdfast.cancel(cancelled, "not wanted");
    open("#/jobs");
    browser.awaitText("it broke", "cancelled: not wanted");
    browser.press("Retry …");
    browser.awaitText("All jobs of all queues that are failed.");
    browser.answer("", "Retry 1 job");
    browser.awaitText("1 requeued");
    assertThat(state(cancelled)).isEqualTo("CANCELLED");
  }

  @Test
  void bulk_cancel_and_retry_show_a_count_before_and_progress_during() {
    holdfast.enqueue(
        IntStream.range(0, 2_500).mapToObj(i -> Job.of("bulk").queue("many")).toList());
    holdfast.enqueue(Job.of("other").queue("many"));
    open("#/jobs?kind=bulk");
    browser.awaitText("bulk");
    browser.press("Cancel …");
    browser.awaitText("Cancel 2,500 jobs?", "To confirm, type 2,500");
    browser.type("dialog input[name=typed]", "250");
    browser.press("//dialog", "Cancel 2,500 jobs");
    browser.awaitText("'250' is not 2,500: nothing was done");
    browser.awaitElement("dialog input[name=typed]").clear();
    browser.type("dialog input[name=typed]", "2,500");
    browser.answer("a mistake", "Cancel 2,500 jobs");
    browser.awaitText("2,500 cancelled, or asked to stop");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'")).isEqualTo(1);
    browser.check("tbody tr:first-child input[type=checkbox]");
    browser.check("tbody tr:nth-child(2) input[type=checkbox]");
    browser.awaitText("2 selected");
    browser.press("Retry …");
    browser.answer("", "Retry 2 jobs");
    browser.awaitText("2 requeued");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'")).isEqualTo(3);
  }

  @Test
  void to_cancel_all_jobs_their_exact_number_is_shown_and_typed() {
    holdfast.enqueue(
        IntStream.range(0, 9_999).mapToObj(i -> Job.of("bulk").queue("many")).toList());
    holdfast.enqueue(IntStream.range(0, 2_001).mapToObj(i -> Job.of("bulk").queue("few")).toList());
    open("#/jobs");
    browser.awaitText("bulk");
    browser.press("Cancel …");
    browser.awaitText("Cancel 12,000 jobs?", "All jobs of all queues", "To confirm, type 12,000");
    browser.press("//dialog", "Cancel 12,000 jobs");
    assertThat(browser.has("dialog[open] input[name=typed]:invalid")).isTrue();
    browser.press("//dialog", "Close");
    browser.go("#/jobs?queue=few");
    browser.awaitElement(".facets a[aria-current=true]");
    browser.press("Cancel …");
    browser.awaitText("Cancel 2,001 jobs?", "or the name of the queue");
    browser.type("dialog input[name=typed]", "few");
    browser.answer("", "Cancel 2,001 jobs");
    browser.awaitText("2,001 cancelled, or asked to stop");
    assertThat(db.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'"))
        .isEqualTo(9_999);
  }

  @Test
  void to_cancel_even_one_job_of_an_unfiltered_list_its_number_is_typed() {
    JobId job = enqueued();
    open("#/jobs");
    browser.awaitText("echo");
    browser.press("Cancel …");
    browser.awaitText("Cancel 1 job?", "To confirm, type 1");
    browser.type("dialog input[name=typed]", "1");
    browser.answer("", "Cancel 1 job");
    browser.awaitText("1 cancelled");
    assertThat(state(job)).isEqualTo("CANCELLED");
  }

  @Test
  void only_actions_that_apply_to_the_jobs_of_a_filter_are_offered() {
    enqueued();
    fail(leased(), "it broke");
    open("#/jobs?state=FAILED");
    browser.awaitText("it broke");
    assertThat(browser.disabledButtons()).contains("Cancel …").doesNotContain("Retry …");
    browser.go("#/jobs?state=RUNNING,FAILED");
    Awaitility.await().atMost(TIMEOUT).until(() -> !browser.disabledButtons().contains("Cancel …"));
  }

  @Test
  void the_buttons_of_workers_are_within_the_window() {
    supervised(HealthStatus.HEALTHY);
    db.sql("UPDATE holdfast.health SET reason = repeat('a long story ', 40)");
    for (int width : new int[] {1400, 1000}) {
      browser.width(width);
      open("#/workers");
      browser.awaitText("a long story");
      assertThat(
              browser.script(
                  "const box = [...document.querySelectorAll('main td button')].at(-1)"
                      + ".getBoundingClientRect(); return box.left > 0 && box.right <= innerWidth"))
          .as("at %d", width)
          .isEqualTo(true);
    }
  }
}
