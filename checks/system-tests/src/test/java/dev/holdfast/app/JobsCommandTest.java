package dev.holdfast.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.app.error.ExitCode;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code jobs} and {@code failures}. */
class JobsCommandTest extends OperatorCommandFixture {
  @Test
  void list_shows_filters_and_pages() throws IOException {
    for (int i = 0; i < 3; i++) {
      run("enqueue", "echo", "-q", "a");
    }
    run("enqueue", "sleep", "-q", "b");
    assertThat(run("jobs", "list")).isZero();
    assertThat(said()).contains("KIND").contains("sleep").contains("PENDING");
    run("jobs", "list", "-q", "a", "-n", "2", "--json");
    assertThat(json()).hasSize(2);
    String last = json().get(1).get("id").asText();
    run("jobs", "list", "-q", "a", "-n", "2", "--before", last, "--json");
    assertThat(json()).hasSize(1);
    run("jobs", "list", "--state", "failed,cancelled", "--json");
    assertThat(json()).isEmpty();
    assertThat(run("jobs", "list", "--limit", "0")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "list", "--state", "asleep")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("PENDING");
  }

  @Test
  void list_shows_the_oldest_first_and_pages() throws IOException {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      ids.add(holdfast.enqueue(Job.of("echo")).id().toString());
    }
    assertThat(run("jobs", "list", "--oldest-first", "-n", "2", "--json")).isZero();
    assertThat(json().findValuesAsText("id")).isEqualTo(ids.subList(0, 2));
    run("jobs", "list", "--oldest-first", "-n", "2");
    assertThat(said()).contains("more: --after " + ids.get(1));
    run("jobs", "list", "--oldest-first", "--after", ids.get(1), "--json");
    assertThat(json().findValuesAsText("id")).containsExactly(ids.get(2));
    run("jobs", "list", "--after", ids.get(0), "--before", ids.get(2), "--json");
    assertThat(json().findValuesAsText("id")).containsExactly(ids.get(1));
    assertThat(run("jobs", "list", "--watch", "--oldest-first")).isEqualTo(ExitCode.USAGE);
    assertThat(complained()).contains("omit --before and --oldest-first");
  }

  @Test
  void watch_prints_the_timeline_and_exits_with_the_outcome_of_the_job() throws IOException {
    JobId good = holdfast.enqueue(Job.of("echo")).id();
    JobId bad = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    runExamples();
    assertThat(run("jobs", "watch", good.toString())).isZero();
    assertThat(said())
        .contains("created")
        .contains("processing")
        .contains("done")
        .contains("SUCCEEDED");
    assertThat(run("jobs", "watch", bad.toString())).isEqualTo(ExitCode.JOB_NOT_SUCCEEDED);
    assertThat(said()).contains("RETRIES_EXHAUSTED");
    assertThat(run("jobs", "show", bad.toString())).isZero();
    assertThat(said()).contains("FAILED").contains("EXAMPLE").contains("budget");
  }

  @Test
  void watch_prints_the_last_of_several_reports_of_progress() throws IOException {
    JobId job = holdfast.enqueue(Job.of("sleep", Map.of("seconds", 0.5))).id();
    runExamples();
    assertThat(run("jobs", "watch", job.toString())).isZero();
    assertThat(said().lines().filter(line -> line.contains(" progress ")))
        .singleElement()
        .asString()
        .containsPattern("\"percent\": ?100");
    assertThat(run("jobs", "watch", job.toString(), "--json")).isZero();
    assertThat(said().lines().filter(line -> line.contains("\"progress\"")))
        .as("all of them, of which a job of half a second has few")
        .hasSizeBetween(2, 8);
  }

  @Test
  void the_note_of_a_failed_job_begins_with_the_cause() throws IOException {
    holdfast.enqueue(Job.of("fail").maxAttempts(1));
    runExamples();
    run("jobs", "list");
    assertThat(said()).contains("this kind always fails (EXAMPLE, RETRIES_EXHAUSTED)");
    run("failures");
    assertThat(said()).containsPattern("[0-9a-f]{16} +1 +fail +EXAMPLE .* this kind always fails");
    run("failures", "-o", "wide");
    assertThat(said()).containsPattern("LATEST.*QUEUES.*WORKERS\n.* default +\\S+");
    run("failures", "--json");
    String signature = json().at("/groups/0/signature").asText();
    run("jobs", "list", "--search", "failure:" + signature, "--json");
    assertThat(json()).hasSize(1);
    assertThat(run("jobs", "retry", "--search", "failure:" + signature, "--dry-run")).isZero();
    assertThat(said()).isEqualTo("1 job would be requeued\n");
    assertThat(run("jobs", "retry", "--search", "failure:" + signature)).isZero();
    assertThat(said()).isEqualTo("1 job requeued\n");
    assertThat(run("failures")).isZero();
    assertThat(said()).isEqualTo("no failed jobs\n");
    assertThat(run("jobs", "list", "--search", "state:gone")).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void jobs_of_a_filter_are_counted_and_then_cancelled() throws IOException {
    holdfast.enqueue(List.of(Job.of("mail"), Job.of("mail"), Job.of("other")));
    assertThat(run("jobs", "cancel", "--kind", "mail", "--dry-run")).isZero();
    assertThat(said()).isEqualTo("2 jobs would be cancelled\n");
    assertThat(run("jobs", "cancel", "--kind", "mail")).isZero();
    assertThat(said()).isEqualTo("2 jobs cancelled, workers of 0 were asked to stop\n");
    assertThat(run("jobs", "cancel", "--kind", "mail", "--dry-run")).isZero();
    assertThat(said()).isEqualTo("0 jobs would be cancelled\n");
    assertThat(run("jobs", "cancel", "--state", "failed")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "cancel")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void a_waiting_job_shows_what_it_waits_for() throws IOException {
    JobId first = holdfast.enqueue(Job.of("fetch")).id();
    JobId job = holdfast.enqueue(Job.of("load").dependsOn(first)).id();
    run("jobs", "show", job.toString());
    assertThat(said()).containsPattern("waits for +" + first + " fetch PENDING");
    run("jobs", "show", first.toString(), "--json");
    assertThat(json().at("/dependencies/dependents/0/id").asText()).isEqualTo(job.toString());
  }

  @Test
  void a_job_that_is_to_run_shows_when_and_why_it_does_not() throws IOException {
    JobId job = holdfast.enqueue(Job.of("fetch").queue("held")).id();
    run("jobs", "show", job.toString());
    assertThat(said()).as("it has just become due").doesNotContain("not running");
    database.sql("UPDATE holdfast.job SET run_at = run_at - interval '8 seconds'");
    run("jobs", "show", job.toString());
    assertThat(said()).containsPattern("not running +it waits for a worker with a free slot");
    holdfast.admin().pause("held");
    run("jobs", "show", job.toString());
    assertThat(said()).containsPattern("not running .*'held'.* paused");
    assertThat(said()).doesNotContain("free slot");
    database.sql(
        "UPDATE holdfast.job SET state = 'RETRYING', attempt = 1, started_at = now(),"
            + " run_at = now() + interval '1 hour'");
    run("jobs", "show", job.toString());
    assertThat(said()).containsPattern("run at +\\d").contains("its next attempt is due in");
  }

  @Test
  void cancel_cancels_a_job_and_is_rejected_for_an_ended_one() throws IOException {
    JobId id = holdfast.enqueue(Job.of("echo")).id();
    assertThat(run("jobs", "cancel", id.toString(), "--reason", "not needed")).isZero();
    assertThat(said()).contains("cancelled");
    assertThat(holdfast.find(id).orElseThrow().cancelReason()).isEqualTo("not needed");
    assertThat(run("jobs", "cancel", id.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(said()).contains("already ended, CANCELLED");
    assertThat(run("jobs", "cancel", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void retry_requeues_failed_jobs_by_id_or_by_filter() throws IOException {
    JobId one = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    JobId two = holdfast.enqueue(Job.of("fail").maxAttempts(1)).id();
    JobId fine = holdfast.enqueue(Job.of("echo")).id();
    runExamples();
    assertThat(run("jobs", "retry", one.toString())).isZero();
    assertThat(holdfast.find(one).orElseThrow().state().name()).isEqualTo("PENDING");
    assertThat(run("jobs", "retry", "--kind", "fail", "--json")).isZero();
    assertThat(json().toString()).isEqualTo("{\"retried\":1,\"refused\":0,\"notFound\":0}");
    assertThat(run("jobs", "retry", one.toString(), "--json")).isEqualTo(ExitCode.REFUSED);
    assertThat(json().toString()).isEqualTo("{\"retried\":0,\"refused\":1,\"notFound\":0}");
    assertThat(holdfast.find(two).orElseThrow().state().name()).isEqualTo("PENDING");
    assertThat(run("jobs", "retry", fine.toString())).isEqualTo(ExitCode.REFUSED);
    assertThat(complained()).contains("is SUCCEEDED");
    assertThat(run("jobs", "cancel", one.toString(), two.toString())).isZero();
    String unknown = JobId.next().toString();
    assertThat(run("jobs", "retry", one.toString(), unknown, two.toString()))
        .isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("there is no job " + unknown);
    assertThat(said()).contains("2 jobs requeued");
    assertThat(run("jobs", "retry")).isEqualTo(ExitCode.USAGE);
    assertThat(run("jobs", "retry", "--state", "RUNNING")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void the_steps_of_a_job_are_shown_with_their_changes() throws IOException {
    Lease lease = running();
    String job = lease.job().toString();
    assertThat(run("jobs", "steps", job)).isZero();
    assertThat(said()).contains("no step has started");
    step(lease, 1, StepState.DONE);
    step(lease, 2, StepState.RUNNING);
    assertThat(run("jobs", "steps", job)).isZero();
    assertThat(said().lines().toList()).hasSize(3);
    assertThat(said().lines().toList().get(0))
        .matches("INDEX +STEP +STATE +ATTEMPTS +RESETS +TOOK +PATCH");
    assertThat(said().lines().toList().get(1)).matches("1 +s1 +DONE +1 +0 +\\d+ ms +1\\.2 kB");
    assertThat(said().lines().toList().get(2)).matches("2 +s2 +RUNNING +1 +0");
    assertThat(run("jobs", "steps", job, "--json")).isZero();
    assertThat(json().get(0).get("stepId").asText()).isEqualTo("s1");
    assertThat(json().get(0).has("checkpoint")).isFalse();
    assertThat(json().get(1).get("finishedAt").isNull()).isTrue();
    assertThat(run("jobs", "steps", job, "--step", "s1")).isZero();
    assertThat(said()).contains("1.2 kB", "changedFiles").doesNotContain("s2");
    assertThat(run("jobs", "steps", job, "--step", "s1", "--json")).isZero();
    assertThat(json().get("checkpoint").get("changedFiles")).hasSize(2);
    assertThat(run("jobs", "steps", job, "--step", "s9")).isEqualTo(ExitCode.NOT_FOUND);
    assertThat(complained()).contains("step 's9' has not started");
    assertThat(run("jobs", "steps", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void the_output_of_the_programs_of_a_job_is_shown_and_followed_to_its_end() throws Exception {
    Lease lease = running();
    String job = lease.job().toString();
    assertThat(run("jobs", "log", job)).isZero();
    assertThat(said()).isEmpty();
    holdfast.jobs().report(List.of(new Report.Log(lease, 1, "one\n\u001b[31mtwo\n")));
    assertThat(run("jobs", "log", job)).isZero();
    assertThat(said()).isEqualTo("one\ntwo\n");
    assertThat(run("jobs", "log", job, "--json")).isZero();
    assertThat(json().get("parts").get(0).get("text").asText()).isEqualTo("one\ntwo\n");
    Thread ends =
        Thread.ofVirtual()
            .start(
                () -> {
                  holdfast.jobs().report(List.of(new Report.Log(lease, 2, "three\n")));
                  holdfast.jobs().settle(new Settlement.Succeed(lease, null));
                });
    assertThat(run("jobs", "log", job, "--follow")).isZero();
    assertThat(said()).isEqualTo("one\ntwo\nthree\n");
    ends.join();
    assertThat(run("jobs", "log", JobId.next().toString())).isEqualTo(ExitCode.NOT_FOUND);
  }

  @Test
  void the_list_shows_the_reason_of_a_cancel_and_not_an_earlier_failure() throws IOException {
    String job = holdfast.enqueue(Job.of("build")).id().toString();
    database.sql(
        "UPDATE holdfast.job SET state = 'RETRYING', failure = jsonb_build_object('category',"
            + " 'USER_CODE', 'code', 'BROKEN', 'message', 'it broke', 'retryable', true)");
    assertThat(run("jobs", "cancel", job, "--reason", "enough of it")).isZero();
    assertThat(run("jobs", "list")).isZero();
    assertThat(said()).contains("cancel: enough of it").doesNotContain("BROKEN");
  }

  @Test
  void a_number_that_no_double_holds_is_refused() throws IOException {
    assertThat(run("enqueue", "echo", "{\"n\": 1e999}")).isNotZero();
    assertThat(complained()).contains("1e999", "pass it as text");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"n\":1e999}", "[1e131071]"})
  void a_stored_number_that_no_double_holds_spoils_no_list(String payload) throws IOException {
    String job = holdfast.enqueue(Job.of("large")).id().toString();
    holdfast.enqueue(Job.of("other"));
    // As others of the database, or earlier versions, may have written it.
    database.sql("UPDATE holdfast.job SET payload = ?::jsonb WHERE id = ?::uuid", payload, job);
    for (String format : List.of("table", "wide", "json", "yaml")) {
      assertThat(run("jobs", "list", "-o", format)).as(format).isZero();
      assertThat(said()).as(format).contains("large", "other");
      assertThat(run("jobs", "show", job, "-o", format)).as(format).isZero();
      assertThat(said()).as(format).contains("payload");
    }
  }
}
