package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.OpenWait;
import dev.holdfast.testkit.OnlyWithAll;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs of kind workspace that wait between their steps. */
@OnlyWithAll
class WorkspaceWaitsTest extends WorkspaceFixture {
  private static final String RELEASE =
      "{\"wait\": \"approval\", \"id\": \"release\", \"question\": \"Ship it?\"}";
  private static final String GO = "{\"wait\": \"signal\", \"id\": \"go\", \"signal\": \"go\"}";

  @BeforeEach
  void runtimes() {
    for (String name : List.of("one", "two", "three")) {
      runtimes.put(
          name,
          "ls *.made > /dev/null 2>&1 || true; echo "
              + name
              + " >> $MARKS/ran; ls > $MARKS/seen-"
              + name
              + "; cp $HOLDFAST_RETRY_CONTEXT $MARKS/context-"
              + name
              + "; echo by-"
              + name
              + " > "
              + name
              + ".made; echo said-"
              + name);
    }
  }

  private static String step(String name) {
    return "{\"id\": \"" + name + "\", \"runtime\": \"" + name + "\"}";
  }

  /** Steps as a payload has them. */
  private JobId enqueuedWith(String... steps) {
    return enqueue(
        Job.of(
                "workspace",
                new Json(
                    """
                    {"objective": "x", "repository": {"url": "%s", "ref": "main"}, "steps": [%s]}
                    """
                        .formatted(folder.resolve("repo"), String.join(", ", steps))))
            .maxAttempts(1));
  }

  private List<String> ran() throws IOException {
    Path ran = folder.resolve("ran");
    return Files.exists(ran) ? Files.readAllLines(ran) : List.of();
  }

  private String context(String step) throws IOException {
    return Files.readString(folder.resolve("context-" + step));
  }

  private void decide(JobId id, boolean approved, String comment) {
    assertThat(
            holdfast
                .jobs()
                .decide(
                    id,
                    "release",
                    new Decision(approved, "ada", comment),
                    Role.OPERATOR,
                    Tenant.ANY))
        .isEqualTo(Decision.Answer.ACCEPTED);
  }

  private void passTime(JobId id) {
    db.sql("UPDATE holdfast.job SET wake_at = now() WHERE id = ?", id.value());
  }

  private OpenWait waits(JobId id) {
    return Objects.requireNonNull(job(id).waitsFor());
  }

  private void waitsFor(JobId id, String wait) {
    until(
        () ->
            job(id).state().isTerminal()
                || job(id).waitsFor() != null && waits(id).id().equals(wait));
    assertThat(waits(id).id()).isEqualTo(wait);
  }

  // ---- approvals

  @Test
  void a_job_that_waits_for_a_decision_holds_nothing_and_continues_on_another_machine()
      throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    until(() -> Files.notExists(folder.resolve("scratch").resolve(id.toString())));
    assertThat(job(id).state()).isEqualTo(JobState.WAITING);
    assertThat(job(id).worker()).isNull();
    close();

    open(db);
    sh("mv cache cache-of-the-other; mv scratch scratch-of-the-other");
    working();
    decide(id, true, "fine");
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two");
    assertThat(Files.readAllLines(folder.resolve("seen-two"))).contains("one.made");
    assertThat(patch(id, "two")).contains("two.made").doesNotContain("one.made");
    assertThat(context("two"))
        .contains(
            "\"waits\":{\"release\":{\"sort\":\"APPROVAL\",\"outcome\":\"APPROVED\",\"by\":\"ada\",\"comment\":\"fine\",\"at\":\"20");
    assertThat(context("one")).contains("\"waits\":{}");
    assertThat(attempts(id)).containsExactly(AttemptOutcome.SUSPENDED, AttemptOutcome.SUCCEEDED);
    assertThat(result(id)).contains("\"steps\": 2", "one.made", "two.made");
    assertThat(holdfast.queries().steps(id))
        .extracting(each -> each.index() + " " + each.id())
        .containsExactly("1 one", "2 release", "3 two");
    assertThat(holdfast.queries().artifacts(id)).hasSize(2);
    assertThat(holdfast.queries().log(id, LogCursor.START).toString())
        .contains("── step release waits: approval");
  }

  @Test
  void a_person_sees_what_the_steps_have_done_and_no_secret() throws Exception {
    runtimes.put("one", "echo 'token=ghp_0123456789abcdefghijklmnopqrstuvwxyz' > conf; echo made");
    runtimes.put("two", "head -c 3000 /dev/urandom > bin; yes 'a line' | head -2000 > long");
    JobId id =
        enqueuedWith(
            step("one"),
            step("two"),
            "{\"wait\": \"approval\", \"id\": \"release\", \"title\": \"Release\", \"question\": \"Ship it?\","
                + " \"details\": \"look at conf\", \"role\": \"admin\", \"withinMs\": 60000}");
    working();
    waitsFor(id, "release");
    OpenWait.Asked asked = Objects.requireNonNull(waits(id).question());
    assertThat(asked.text()).isEqualTo("Ship it?");
    assertThat(asked.role().word()).isEqualTo("admin");
    assertThat(waits(id).until()).isNotNull();
    assertThat(asked.details())
        .startsWith("look at conf\n\none: made\n  conf\ntwo: \n  bin\n  long\n")
        .contains("+token=", "GIT binary patch\ndiff --git a/long", "+a line")
        .endsWith("…\n(more on the page of the job)")
        .doesNotContain("ghp_0123456789", "literal")
        .hasSizeLessThanOrEqualTo(4_000);
    assertThat(job(id).progressMessage()).isEqualTo("Release");
  }

  @Test
  void a_rejection_fails_the_job_for_good_and_a_retry_asks_again() throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    decide(id, false, "not on a Friday");
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.REJECTED);
    assertThat(failure(id).retryable()).isFalse();
    assertThat(failure(id).message()).isEqualTo("step 'release': rejected by ada: not on a Friday");

    // As if the worker had been lost before it told.
    db.sql(
        "UPDATE holdfast.job SET state = 'PENDING', finished_at = NULL, failure = NULL,"
            + " worker_id = NULL, started_at = NULL WHERE id = ?",
        id.value());
    until(() -> job(id).attempt() == 3 && job(id).state() == JobState.FAILED);
    assertThat(failure(id).code()).as("not passed over").isEqualTo(Failure.REJECTED);
    ask(id, CommandAction.RESUME_FROM_STEP, "two");
    waitsFor(id, "release");
    decide(id, false, "");
    await(id, JobState.FAILED);

    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    waitsFor(id, "release");
    decide(id, true, "");
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two");
  }

  @Test
  void a_rejection_may_be_for_the_steps_after_it_to_heed() throws Exception {
    JobId id =
        enqueuedWith(
            step("one"), RELEASE.replace("}", ", \"onReject\": \"continue\"}"), step("two"));
    working();
    waitsFor(id, "release");
    decide(id, false, "shorter, please");
    await(id, JobState.SUCCEEDED);
    assertThat(context("two")).contains("\"outcome\":\"REJECTED\"", "shorter, please");
  }

  @Test
  void what_happens_when_nobody_decides_is_for_the_payload_to_say() throws Exception {
    String timed = RELEASE.replace("}", ", \"withinMs\": 60000000, \"afterwards\": \"%s\"}");
    working();
    for (String then : List.of("approve", "reject", "fail")) {
      JobId id = enqueuedWith(step("one"), timed.formatted(then));
      waitsFor(id, "release");
      passTime(id);
      if (then.equals("approve")) {
        await(id, JobState.SUCCEEDED);
      } else {
        await(id, JobState.FAILED);
        assertThat(failure(id).code())
            .isEqualTo(then.equals("fail") ? Failure.NOT_DECIDED : Failure.REJECTED);
        holdfast.jobs().retry(List.of(id), Tenant.ANY);
        waitsFor(id, "release");
      }
    }
  }

  // ---- signals and time

  @Test
  void a_signal_is_told_to_the_steps_after_it_and_one_that_came_before_costs_no_attempt()
      throws Exception {
    JobId id = enqueuedWith(step("one"), GO, step("two"));
    holdfast.signal(id, "go", List.of("eu", "us"));
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(attempts(id)).hasSize(1);
    assertThat(context("two")).contains("\"go\":{\"sort\":\"SIGNAL\"", "[\"eu\",\"us\"]");
  }

  @Test
  void a_signal_that_does_not_come_in_time_fails_the_job_unless_it_is_to_go_on() throws Exception {
    String timed = GO.replace("}", ", \"withinMs\": 60000000%s}");
    JobId id = enqueuedWith(timed.formatted(""), step("one"));
    JobId on = enqueuedWith(timed.formatted(", \"onTimeout\": \"continue\""), step("two"));
    working();
    waitsFor(id, "go");
    waitsFor(on, "go");
    passTime(id);
    passTime(on);
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.NOT_SIGNALLED);
    await(on, JobState.SUCCEEDED);
    assertThat(context("two")).contains("\"outcome\":\"TIMEOUT\"");

    holdfast.jobs().retry(List.of(id), Tenant.ANY);
    waitsFor(id, "go");
    holdfast.signal(id, "go", "late");
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_sleep_of_no_time_keeps_the_workspace_and_a_wait_may_come_first_and_last()
      throws Exception {
    JobId id =
        enqueuedWith(
            "{\"wait\": \"sleep\", \"id\": \"first\", \"until\": \"2000-01-01T00:00:00Z\"}",
            step("one"),
            "{\"wait\": \"sleep\", \"id\": \"pause\", \"withinMs\": 0}",
            step("two"),
            "{\"wait\": \"sleep\", \"id\": \"last\", \"withinMs\": 60000000}");
    working();
    waitsFor(id, "last");
    passTime(id);
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two");
    assertThat(attempts(id)).hasSize(2);
    assertThat(holdfast.queries().artifacts(id)).hasSize(2);
    assertThat(result(id)).contains("\"tree\": \"");
    assertThat(steps(id)).containsExactly("started", "finished", "started", "finished");
  }

  // ---- a worker that is lost, a cancel

  @Test
  void a_job_whose_worker_is_lost_after_the_decision_does_not_pass_over_it() throws Exception {
    runtimes.put("two", "echo two >> $MARKS/ran; while [ ! -e $MARKS/go ]; do sleep 0.05; done");
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    decide(id, true, "");
    until(() -> ran().contains("two"));
    Files.createFile(folder.resolve("go"));
    takeAway(id);
    await(id, JobState.SUCCEEDED);
    assertThat(ran().stream().filter("one"::equals)).hasSize(1);
  }

  @Test
  void a_job_that_waits_is_cancelled_at_once() throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    holdfast.cancel(id, "no need");
    assertThat(job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(ran()).containsExactly("one");
  }

  // ---- what operators ask

  @Test
  void a_job_that_is_sent_back_to_a_wait_asks_again_and_does_the_steps_after_it_again()
      throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"), GO, step("three"));
    working();
    waitsFor(id, "release");
    decide(id, true, "first");
    waitsFor(id, "go");
    ask(id, CommandAction.RESUME_FROM_STEP, "release");
    waitsFor(id, "release");
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
    assertThat(holdfast.queries().steps(id))
        .filteredOn(StepStatus::isDone)
        .extracting(StepStatus::id)
        .containsExactly("one");
    assertThat(waits(id).question()).isNotNull();
    assertThat(Objects.requireNonNull(waits(id).question()).details()).doesNotContain("said-two");

    decide(id, true, "second");
    waitsFor(id, "go");
    holdfast.signal(id, "go", 1);
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two", "two", "three");
    assertThat(context("three")).contains("second").doesNotContain("first");
    assertThat(steps(id)).contains("control.resume_from_step", "control.recovery.ack");
  }

  @Test
  void a_job_that_waits_is_sent_back_to_a_step_before_its_wait() throws Exception {
    JobId id = enqueuedWith(step("one"), step("two"), RELEASE, step("three"));
    working();
    waitsFor(id, "release");
    ask(id, CommandAction.HARD_RESET_STEP, "two");
    until(() -> ran().size() == 3);
    waitsFor(id, "release");
    decide(id, true, "");
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two", "two", "three");
    assertThat(Files.readAllLines(folder.resolve("seen-three"))).contains("one.made", "two.made");
  }

  @Test
  void a_running_step_is_stopped_to_go_back_to_a_wait_that_cost_no_attempt() throws Exception {
    runtimes.put(
        "two",
        "echo two >> $MARKS/ran; echo junk > junk; [ -e $MARKS/go ] || { touch $MARKS/go; sleep 1000; }; ls > $MARKS/seen-two");
    JobId id = enqueuedWith(step("one"), GO, step("two"));
    holdfast.signal(id, "go", "first");
    working();
    until(() -> Files.exists(folder.resolve("go")));
    ask(id, CommandAction.RESUME_FROM_STEP, "go");
    waitsFor(id, "go");
    assertThat(holdfast.queries().pendingCommand(id)).isEqualTo(PendingCommand.NONE);
    holdfast.signal(id, "go", "second");
    await(id, JobState.SUCCEEDED);
    assertThat(ran()).containsExactly("one", "two", "two");
  }

  @Test
  void a_wait_cannot_be_accepted_in_place_of_its_decision() throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    assertThat(
            holdfast
                .jobs()
                .command(
                    id,
                    new JobCommand(CommandAction.ACCEPT_STEP, "release", "ada", "test"),
                    Tenant.ANY)
                .answer())
        .isEqualTo(JobCommand.Answer.NO_WORKSPACE);
    assertThat(
            holdfast
                .jobs()
                .command(
                    id, new JobCommand(CommandAction.TAKEOVER, null, "ada", "test"), Tenant.ANY)
                .answer())
        .isEqualTo(JobCommand.Answer.NOT_RUNNING);
  }

  @Test
  void a_paused_job_waits_without_its_slot_and_begins_no_step_before_it_is_resumed()
      throws Exception {
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    ask(id, CommandAction.PAUSE, null);
    assertThat(job(id).state()).isEqualTo(JobState.WAITING);
    decide(id, true, "");
    until(() -> steps(id).contains("control.recovery.ack"));
    assertThat(ran()).containsExactly("one");
    ask(id, CommandAction.RESUME, null);
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void a_step_after_a_wait_that_fails_is_healed_as_ever() throws Exception {
    runtimes.put(
        "two",
        "cat one.made; [ -e $MARKS/failed ] || { touch $MARKS/failed; rm -rf ../work; exit 1; }; echo 2 > two.made");
    JobId id = enqueuedWith(step("one"), RELEASE, step("two"));
    working();
    waitsFor(id, "release");
    decide(id, true, "");
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id)).contains("self_heal.escalated");
  }

  // ---- what is refused

  @Test
  void a_wait_that_is_not_understood_is_refused_with_its_step_and_its_field() {
    working();
    for (List<String> each :
        List.of(
            List.of("{\"wait\": \"dream\", \"id\": \"w\"}", "'w'", "field 'wait' must be sleep"),
            List.of(
                "{\"wait\": \"children\", \"id\": \"w\", \"started\": [\"c\"]}",
                "starts no others"),
            List.of("{\"wait\": \"sleep\", \"id\": \"w\"}", "field 'withinMs' is missing"),
            List.of("{\"wait\": \"sleep\"}", "steps[1]", "field 'id' is missing"),
            List.of(
                "{\"wait\": \"sleep\", \"id\": \"w\", \"withinMs\": -1}",
                "steps[1] 'w'",
                "withinMs"),
            List.of("{\"wait\": \"approval\", \"id\": \"w\"}", "field 'question' is missing"),
            List.of(
                RELEASE.replace("}", ", \"onReject\": \"shrug\"}"),
                "'release'",
                "field 'onReject' must be fail or continue"),
            List.of(RELEASE.replace("}", ", \"onTimeout\": \"fail\"}"), "no field 'onTimeout'"),
            List.of(RELEASE.replace("}", ", \"runtime\": \"one\"}"), "no field 'runtime'"),
            List.of(RELEASE.replace("}", ", \"withinMS\": 1}"), "no field 'withinMS'"),
            List.of(GO.replace("\"go\"}", "\"a b\"}"), "signal 'a b'"),
            List.of("{\"id\": \"w\"}", "field 'runtime' is missing"),
            List.of("7", "steps[1]", "must be an object"),
            List.of(step("one"), "two steps have the id 'one'"))) {
      JobId id = enqueuedWith(step("one"), each.getFirst());
      await(id, JobState.FAILED);
      assertThat(failure(id).code()).isEqualTo(Failure.VALIDATION);
      assertThat(failure(id).message()).contains(each.subList(1, each.size()));
    }
    JobId idle = enqueuedWith(RELEASE);
    await(idle, JobState.FAILED);
    assertThat(failure(idle).message()).contains("at least one with a 'runtime'");
  }
}
