package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.artifact.FileTrees;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Steps that an operator has accepted. */
@OnlyWithAll
class AcceptedStepTest extends WorkspaceRunFixture {
  private static PendingCommand accepted() {
    return new PendingCommand(
        false,
        false,
        new PendingCommand.Recovery(CommandAction.ACCEPT_STEP, "s1", "ada", "fine", Instant.EPOCH),
        null);
  }

  @Test
  void an_accepted_step_without_a_taken_over_workspace_is_run_by_the_program() throws Exception {
    commands.onCommand(accepted());
    assertThat(run("one", TELL + "echo $HOLDFAST_STEP_INDEX >> log").tree())
        .isEqualTo(undisturbedTree());
    assertThat(events).containsOnlyOnce(EventType.STEP_FAILED);
    assertThat(map(told("s1-2").get("failure")))
        .containsEntry(
            "summary", "the accepted changes are on the worker where the job was taken over");
  }

  @Test
  void an_accepted_step_that_contains_a_secret_fails_the_job() throws Exception {
    secrets = List.of("correct-horse-battery");
    TakenOver taken = new TakenOver("I log in by hand");
    Files.writeString(taken.work.resolve("by-hand"), secrets.getFirst());
    commands.onCommand(accepted());
    assertThatThrownBy(taken::end)
        .hasRootCauseInstanceOf(FailedException.class)
        .hasMessageContaining("the changes contain a secret of this worker");
    assertThat(Objects.requireNonNull(rows.get("s1")).state()).isEqualTo(StepState.FAILED);
    assertThat(patches).isEmpty();
  }

  @Test
  void an_accepted_step_whose_workspace_is_gone_is_run_by_the_program_in_a_new_one()
      throws Exception {
    TakenOver taken = new TakenOver("mine");
    FileTrees.delete(taken.work);
    commands.onCommand(accepted());
    taken.end();
    assertThat(events).containsOnlyOnce(EventType.HEAL_ESCALATED);
    assertThat(map(told("s1-3").get("failure")))
        .containsEntry("summary", "the workspace was deleted while the step ran");
    assertThat(map(told("s1-3").get("operator")).get("requests"))
        .isEqualTo(
            List.of(
                Map.of("action", "takeover", "requestedBy", "ada", "reason", "mine"),
                Map.of("action", "accept_step", "requestedBy", "ada", "reason", "fine")));
  }
}
