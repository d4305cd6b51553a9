package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.OnlyWithAll;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Commands of operators for a workspace job. */
@OnlyWithAll
class WorkspaceCommandsTest extends WorkspaceFixture {
  /** The commands of a heartbeat have been processed when the next one is sent. */
  private void heard(JobId id) {
    for (int beat = 1; beat <= 2; beat++) {
      Instant before = Instant.now();
      until(() -> before.isBefore(Objects.requireNonNull(job(id).heartbeatAt())));
    }
  }

  @Test
  void a_takeover_reports_the_workspace_and_changes_made_there_are_kept() throws Exception {
    runtimes.put(
        "edit", "[ -e by-hand ] || { echo agent > agent; while :; do sleep 0.1; done; }; echo ok");
    JobId id = enqueued("edit");
    working();
    until(() -> steps(id).contains("started"));
    until(() -> scratch(id, 1).resolve("workspace-1/work/agent").toFile().exists());
    ask(id, CommandAction.TAKEOVER, null);
    until(() -> steps(id).contains("control.recovery.ack"));
    Path work = scratch(id, 1).resolve("workspace-1/work");
    assertThat(data(id, EventType.RECOVERY_ACK))
        .contains("\"takeover\"", work.toRealPath().toString());
    Files.writeString(work.resolve("by-hand"), "ada\n");
    ask(id, CommandAction.RESUME, null);
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "edit")).contains("by-hand", "agent");
    assertThat(steps(id))
        .containsExactly(
            "started",
            "control.takeover",
            "failed",
            "control.recovery.ack",
            "control.resume",
            "started",
            "finished");
  }

  @Test
  void a_takeover_between_two_attempts_reports_the_workspace_too() throws Exception {
    runtimes.put(
        "edit",
        "[ ! -e by-hand ] || exit 0; touch $MARKS/begun;"
            + " while [ ! -e $MARKS/go ]; do sleep 0.05; done; exit 1");
    JobId id = enqueued("edit");
    working();
    until(() -> Files.exists(folder.resolve("begun")));
    ask(id, CommandAction.PAUSE, null);
    heard(id);
    Files.createFile(folder.resolve("go"));
    until(() -> data(id, EventType.RECOVERY_ACK).contains("\"pause\""));
    ask(id, CommandAction.TAKEOVER, null);
    until(() -> data(id, EventType.RECOVERY_ACK).contains("\"takeover\""));
    Path work = scratch(id, 1).resolve("workspace-1/work");
    assertThat(data(id, EventType.RECOVERY_ACK)).contains(work.toRealPath().toString());
    Files.writeString(work.resolve("by-hand"), "ada\n");
    ask(id, CommandAction.RESUME, null);
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "edit")).contains("by-hand");
  }

  @Test
  void after_a_takeover_the_step_can_be_accepted_and_the_job_continues() throws Exception {
    runtimes.put("edit", "echo agent > agent; echo x >> $MARKS/ran; while :; do sleep 0.1; done");
    runtimes.put("look", "cat by-hand; echo seen > seen");
    JobId id = enqueued("edit", "look");
    working();
    until(() -> scratch(id, 1).resolve("workspace-1/work/agent").toFile().exists());
    ask(id, CommandAction.TAKEOVER, null);
    until(() -> steps(id).contains("control.recovery.ack"));
    Files.writeString(scratch(id, 1).resolve("workspace-1/work/by-hand"), "ada\n");
    ask(id, CommandAction.ACCEPT_STEP, "edit");
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "edit")).contains("by-hand", "agent");
    assertThat(checkpoint(id, "edit")).contains("accepted by ada: test");
    assertThat(patch(id, "look")).contains("seen").doesNotContain("by-hand");
    assertThat(Files.readAllLines(folder.resolve("ran"))).as("the agent ran once").hasSize(1);
    assertThat(steps(id))
        .endsWith(
            "control.accept_step",
            "control.recovery.ack",
            "started",
            "finished",
            "started",
            "finished");
  }

  @Test
  void a_succeeded_job_can_be_resumed_from_a_step() throws Exception {
    runtimes.put("one", "echo 1 > one; echo one >> $MARKS/ran");
    runtimes.put("two", "cat one; [ ! -e $MARKS/ran2 ] || echo 2 > two; echo two >> $MARKS/ran2");
    JobId id = enqueued("one", "two");
    working();
    await(id, JobState.SUCCEEDED);
    assertThat(patch(id, "two")).isEmpty();
    ask(id, CommandAction.RESUME_FROM_STEP, "two");
    until(() -> job(id).attempt() == 2 && job(id).state() == JobState.SUCCEEDED);
    assertThat(Files.readAllLines(folder.resolve("ran"))).hasSize(1);
    assertThat(Files.readAllLines(folder.resolve("ran2"))).hasSize(2);
    assertThat(patch(id, "two")).contains("+2");
    assertThat(result(id)).contains("\"changedFiles\": [\"one\", \"two\"]");
    assertThat(timeline(id)).containsSubsequence("done", "retried", "processing", "done");
  }

  @Test
  void resuming_from_an_earlier_step_uses_a_new_workspace() throws Exception {
    runtimes.put("one", "echo 1 > one; echo one >> $MARKS/ran");
    runtimes.put("two", "cat one; echo 2 > two; echo two >> $MARKS/ran");
    runtimes.put(
        "three",
        "cat two; echo three >> $MARKS/ran;"
            + " [ -e $MARKS/go ] || { touch $MARKS/go; while :; do sleep 0.1; done; }; echo 3 > three");
    JobId id = enqueued("one", "two", "three");
    working();
    until(() -> Files.exists(folder.resolve("go")));
    ask(id, CommandAction.RESUME_FROM_STEP, "two");
    await(id, JobState.SUCCEEDED);
    assertThat(Files.readAllLines(folder.resolve("ran")))
        .containsExactly("one", "two", "three", "two", "three");
    assertThat(steps(id)).contains("resume.from_step", "control.recovery.ack");
  }

  @Test
  void commands_sent_during_a_pause_are_executed_after_it() throws Exception {
    runtimes.put(
        "edit",
        "[ $HOLDFAST_STEP_ATTEMPT -gt 1 ] || { echo x > junk; touch $MARKS/begun;"
            + " while [ ! -e $MARKS/go ]; do sleep 0.05; done; exit 1; }; echo ok > good;"
            + " cp $HOLDFAST_RETRY_CONTEXT $MARKS/context.json");
    JobId id = enqueued("edit");
    working();
    until(() -> Files.exists(folder.resolve("begun")));
    ask(id, CommandAction.PAUSE, null);
    heard(id);
    // The attempt under way goes on until it fails by itself.
    Files.createFile(folder.resolve("go"));
    until(() -> steps(id).contains("control.recovery.ack"));
    ask(id, CommandAction.HARD_RESET_STEP, "edit");
    ask(id, CommandAction.RESUME, null);
    await(id, JobState.SUCCEEDED);
    assertThat(steps(id))
        .containsExactly(
            "started",
            "control.pause",
            "failed",
            "self_heal.triggered",
            "control.recovery.ack",
            "control.hard_reset_step",
            "control.resume",
            "resume.from_step",
            "control.recovery.ack",
            "started",
            "finished");
    assertThat(patch(id, "edit")).contains("good").doesNotContain("junk");
    assertThat(Files.readString(folder.resolve("context.json")))
        .contains(
            "\"requests\":[{\"action\":\"pause\",\"requestedBy\":\"ada\",\"reason\":\"test\"},"
                + "{\"action\":\"hard_reset_step\",\"requestedBy\":\"ada\",\"reason\":\"test\"}]");
  }
}
