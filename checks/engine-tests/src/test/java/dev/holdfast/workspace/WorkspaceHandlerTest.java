package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.Budgets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Steps that are programs, in a real clone of a real repository. */
@OnlyWithAll
class WorkspaceHandlerTest extends WorkspaceFixture {
  // ---- checkpoints

  @Test
  void every_step_stores_a_patch_and_a_state_and_the_result_lists_all() throws Exception {
    runtimes.put("edit", "echo more >> a.txt; echo new > c.txt; echo edited");
    runtimes.put("remove", "rm src/b.txt; git commit -qam 'as it likes'; echo removed");
    JobId id = enqueued("edit", "remove");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "edit")).contains("+more", "c.txt").doesNotContain("src/b.txt");
    assertThat(patch(id, "remove")).contains("deleted file").doesNotContain("c.txt");
    assertThat(result(id)).contains("\"steps\": 2", "a.txt", "c.txt", "src/b.txt");
    Path state = scratch(id, 1);
    assertThat(state.resolve("patches/steps/step-0001.patch")).hasContent(patch(id, "edit"));
    assertThat(Files.readString(state.resolve("state/steps/step-0002.json")))
        .contains("\"stepId\":\"remove\"", "\"summary\":\"removed\"", "\"diffHash\"");
    assertThat(holdfast.queries().artifacts(id))
        .extracting(PublishedArtifact::artifact)
        .extracting(Artifact::name)
        .containsExactlyInAnyOrder("step-0001.patch", "step-0002.patch");
    assertThat(steps(id)).containsExactly("started", "finished", "started", "finished");
    assertThat(holdfast.queries().log(id, LogCursor.START).parts())
        .containsExactly(
            new LogTail.Part(
                1, "── step edit, attempt 1\nedited\n── step remove, attempt 1\nremoved\n"));
  }

  @Test
  void another_worker_rebuilds_the_workspace_from_the_checkpoints() throws Exception {
    budgets = new Budgets(1, LONG, LONG, 2, 0);
    runtimes.put("one", "echo 1 > one; echo x >> $MARKS/ran");
    runtimes.put("two", "cat one; echo 2 > two; echo x >> $MARKS/ran");
    runtimes.put(
        "three",
        "cat one two; cp $HOLDFAST_RETRY_CONTEXT $MARKS/context.json; [ -e $MARKS/failed ] || { touch $MARKS/failed; echo 'disk full'; exit 1; };"
            + " echo 3 > three");
    JobId id = enqueued("one", "two", "three");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(job(id).failures()).isEqualTo(1);
    assertThat(Files.readAllLines(folder.resolve("ran"))).hasSize(2);
    assertThat(steps(id)).contains("self_heal.exhausted").endsWith("started", "finished");
    assertThat(patch(id, "three")).contains("three").doesNotContain("/one");
    assertThat(Files.exists(scratch(id, 1).resolve("logs/step-0003-attempt-1.log"))).isTrue();
    assertThat(Files.readString(folder.resolve("context.json")))
        .contains("\"strategy\":\"queue_retry\"", "three exited with 1: disk full");
  }

  @Test
  void a_job_whose_worker_was_lost_after_the_last_step_publishes_all_patches() throws Exception {
    runtimes.put("one", "echo 1 > one; echo x >> $MARKS/ran");
    runtimes.put("two", "echo 2 > two; echo x >> $MARKS/ran");
    JobId id = enqueued("one", "two");
    working();
    await(id, JobState.SUCCEEDED);
    String result = result(id);
    // As if the worker had been lost before it told.
    db.sql("DELETE FROM holdfast.artifact WHERE job_id = ?", id.value());
    db.sql(
        "UPDATE holdfast.job SET state = 'PENDING', finished_at = NULL, result = NULL,"
            + " worker_id = NULL, started_at = NULL WHERE id = ?",
        id.value());
    until(() -> job(id).attempt() == 2 && job(id).state() != JobState.RUNNING);
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo(result);
    assertThat(holdfast.queries().artifacts(id))
        .extracting(PublishedArtifact::artifact)
        .extracting(Artifact::name)
        .containsExactlyInAnyOrder("step-0001.patch", "step-0002.patch");
    assertThat(scratch(id, 2).resolve("patches/steps/step-0002.patch"))
        .hasContent(patch(id, "two"));
    assertThat(Files.readAllLines(folder.resolve("ran"))).hasSize(2);
  }

  // ---- processes left behind

  /**
   * Without environment, session and parent, it used to go on writing where the next step works.
   */
  @Test
  void processes_of_one_step_are_ended_before_the_next() throws Exception {
    runtimes.put(
        "escape",
        """
        (env -i setsid /bin/sh -c \
           'echo $$ > '$MARKS'/pid; while :; do echo stray > stray-$$; sleep 0.05; done' \
           >/dev/null 2>&1 &)
        while [ ! -s $MARKS/pid ]; do sleep 0.05; done
        echo 1 > one
        """);
    runtimes.put("next", "rm -f stray-*; sleep 0.5; ls stray-* && exit 64; echo 2 > two");
    JobId id = enqueued("escape", "next");
    working();
    await(id, JobState.SUCCEEDED);
    assertGone("pid");
  }

  @Test
  void the_largest_patch_size_is_a_setting() throws Exception {
    patchBytes = 10_000;
    runtimes.put("large", "head -c 100000 /dev/urandom > large");
    JobId id = enqueued("large");
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("larger than 10,000 bytes", "workspace.patchSize");
  }

  @Test
  void a_runtime_may_report_its_failure_class() throws Exception {
    runtimes.put(
        "refuse",
        "echo '{\"failureClass\": \"deterministic_policy\", \"message\": \"not allowed\"}'"
            + " > $HOLDFAST_STEP_RESULT");
    JobId id = enqueued("refuse");
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("DETERMINISTIC_POLICY");
    assertThat(failure(id).message()).contains("not allowed");
  }

  @Test
  void the_end_of_the_output_of_a_runtime_is_kept() throws Exception {
    runtimes.put(
        "talk", "yes 'a line like any other' | head -c 15000000; echo; echo the last word");
    JobId id = enqueued("talk");
    working();
    await(id, JobState.SUCCEEDED);
    Path log = scratch(id, 1).resolve("logs/step-0001-attempt-1.log");
    assertThat(Files.size(log)).isLessThanOrEqualTo(10 << 20);
    assertThat(Files.readString(log)).endsWith("the last word\n");
    assertThat(Files.readString(scratch(id, 1).resolve("state/steps/step-0001.json")))
        .contains("\"summary\":\"the last word\"");
  }

  @Test
  void an_unreadable_or_oversized_result_is_ignored() throws Exception {
    runtimes.put("garbage", "echo \"{$API_TOKEN\" > $HOLDFAST_STEP_RESULT; echo fine");
    runtimes.put(
        "large",
        "printf '{\"summary\": \"%s\"}' \"$(yes x | head -c 200000 | tr -d '\\n')\""
            + " > $HOLDFAST_STEP_RESULT; echo fine, too");
    JobId id = enqueued("garbage", "large");
    try (CapturedLog log = new CapturedLog()) {
      working();
      await(id, JobState.SUCCEEDED);
      assertThat(log.lines(Level.INFO, "its result could not be read"))
          .hasSize(2)
          .noneMatch(line -> line.contains(SECRET));
    }
    assertThat(checkpoint(id, "garbage")).contains("\"summary\": \"fine\"");
    assertThat(checkpoint(id, "large")).contains("\"summary\": \"fine, too\"");
  }

  @Test
  void cancelling_a_job_ends_its_runtime() throws Exception {
    runtimes.put("long", "echo $$ > $MARKS/pid; while :; do sleep 1; done");
    JobId id = enqueued("long");
    working();
    until(() -> Files.exists(folder.resolve("pid")) && Files.size(folder.resolve("pid")) > 0);
    holdfast.cancel(id, "enough");
    await(id, JobState.CANCELLED);
    assertGone("pid");
  }

  @Test
  void an_invalid_payload_is_refused_with_a_reason() throws IOException {
    JobId id = enqueue(Job.of("workspace", Map.of("objective", "x")));
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("repository");
  }
}
