package dev.holdfast.workspace;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What is tried when a step fails or hangs. */
@OnlyWithAll
class WorkspaceHealingTest extends WorkspaceFixture {
  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_command_that_hangs_is_killed_with_its_children_and_retried_in_the_same_workspace()
      throws Exception {
    budgets = new Budgets(3, LONG, AMPLE, 2, 1);
    runtimes.put(
        "hang",
        """
        if [ ! -e $MARKS/hung ]; then
          touch $MARKS/hung; echo begun > half-done
          trap '' TERM
          (setsid sh -c 'trap "" TERM; echo $$ > $MARKS/pid; while :; do sleep 1; done' &)
          while [ ! -s $MARKS/pid ]; do sleep 0.05; done
          echo waiting
          while :; do sleep 1; done
        fi
        cat half-done; cp $HOLDFAST_RETRY_CONTEXT $MARKS/context.json; echo done > whole
        """);
    JobId id = enqueued("hang");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id))
        .containsExactly("started", "failed", "self_heal.triggered", "started", "finished");
    assertThat(data(id, EventType.HEAL_TRIGGERED))
        .contains("stuck_no_progress", "soft_reset", "diffHash");
    assertGone("pid");
    assertThat(patch(id, "hang")).contains("half-done", "whole");
    assertThat(Files.readString(folder.resolve("context.json")))
        .contains(
            "\"objective\":\"make it better\"",
            "\"id\":\"hang\"",
            "\"failureClass\":\"stuck_no_progress\"",
            "touch nothing else",
            "half-done")
        .doesNotContain("waiting");
  }

  @Test
  void an_equal_failure_over_the_same_changes_gets_a_new_workspace_with_the_earlier_steps()
      throws Exception {
    runtimes.put("prepare", "echo ready > prepared");
    runtimes.put(
        "build",
        """
        cat prepared
        echo "$(date +%s%N) build failed in $PWD after $$ ms"
        if [ -e broken ] || [ ! -e $MARKS/once ]; then
          echo x > broken; touch $MARKS/once; exit 1
        fi
        echo made > product
        """);
    JobId id = enqueued("prepare", "build");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id))
        .containsExactly(
            "started",
            "finished",
            "started",
            "failed",
            "self_heal.triggered",
            "started",
            "failed",
            "self_heal.escalated",
            "resume.from_step",
            "started",
            "finished");
    assertThat(patch(id, "build")).contains("product").doesNotContain("broken");
    assertThat(holdfast.queries().steps(id)).extracting(StepStatus::resets).containsExactly(0, 1);
    try (Stream<Path> records = Files.list(scratch(id, 1).resolve("state/self_heal"))) {
      assertThat(records.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("attempt-build-1.json", "attempt-build-2.json");
    }
    assertThat(scratch(id, 1).resolve("workspace-1")).doesNotExist();
    assertThat(scratch(id, 1).resolve("replay.patch")).doesNotExist();
  }

  @Test
  void a_step_that_changes_nothing_is_completed_too() throws Exception {
    runtimes.put("look", "ls; echo seen");
    runtimes.put("edit", "echo 1 > one");
    runtimes.put(
        "fail", "cat one; [ $HOLDFAST_STEP_ATTEMPT -gt 2 ] || { echo always the same; exit 1; }");
    JobId id = enqueued("look", "edit", "look-again", "fail");
    runtimes.put("look-again", "ls");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "look")).isEmpty();
    assertThat(steps(id)).contains("self_heal.escalated");
    assertThat(result(id)).contains("\"changedFiles\": [\"one\"]");
  }

  @Test
  void a_patch_that_does_not_apply_fails_the_job_and_keeps_the_old_workspace() throws Exception {
    runtimes.put("one", "echo 1 > one");
    runtimes.put("two", "echo fails; exit 1");
    JobId id = enqueued("one", "two");
    // Damaged where only a rebuild looks.
    db.sql(
        """
        CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN IF NEW.patch IS NOT NULL THEN NEW.patch := ''nonsense''; END IF; RETURN NEW; END'
        """);
    db.sql(
        "CREATE TRIGGER damage BEFORE INSERT OR UPDATE ON holdfast.step"
            + " FOR EACH ROW EXECUTE FUNCTION damage()");
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo("DETERMINISTIC_REPO");
    assertThat(failure(id).message()).contains("replayed");
    assertThat(scratch(id, 1).resolve("workspace-1/work/one")).hasContent("1");
    assertThat(scratch(id, 1).resolve("logs/step-0002-attempt-1.log")).content().contains("fails");
    assertThat(steps(id)).endsWith("failed", "self_heal.exhausted");
  }

  @Test
  void a_permanent_error_fails_the_job_at_once_with_its_reason() throws Exception {
    runtimes.put("usage", "echo 'no such option'; exit 64");
    JobId usage = enqueued("usage");
    JobId unknown = enqueued("nobody-has-this");
    JobId lost =
        enqueue(
            Job.of(
                "workspace",
                new WorkspaceJob(
                    "x",
                    new WorkspaceJob.Source(folder + "/none", null),
                    List.of(new WorkspaceJob.Task("a", null, null, "usage")),
                    null,
                    null)));
    working();
    for (JobId id : List.of(usage, unknown, lost)) {
      await(id, JobState.FAILED);
      assertThat(steps(id)).containsExactly("started", "failed", "self_heal.exhausted");
      assertThat(job(id).failures()).isZero();
    }
    assertThat(failure(usage).code()).isEqualTo("DETERMINISTIC_CONTRACT");
    assertThat(failure(unknown).message()).contains("runtimes");
    assertThat(failure(lost).code()).isEqualTo("DETERMINISTIC_REPO");
  }
}
