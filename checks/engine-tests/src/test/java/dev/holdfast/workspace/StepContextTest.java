package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.testkit.OnlyWithAll;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The context an attempt gets about the job and the attempts before it. */
@OnlyWithAll
class StepContextTest extends WorkspaceRunFixture {
  @Test
  void instructions_are_unchanged_and_program_output_is_scrubbed() throws Exception {
    secrets = List.of("correct-horse-battery");
    instructions = "log in with password=\"correct-horse-battery {\"a\": 1}";
    run(
        "one",
        TELL
            + """
            if [ ! -e $MARKS/failed ]; then
              touch $MARKS/failed correct-horse-battery.txt
              echo 'assertion 7 failed'
              printf '\\033[31mcorrect-\\033[0mhorse-battery\\nbye\\n'
              printf '%s%s' '{"failureClass": "transient_runtime", "message":' \\
                '"no \\u001b[31mcorrect\\u001b[0m-horse-battery"}' > $HOLDFAST_STEP_RESULT
              exit 1
            fi
            rm -f correct*; echo $HOLDFAST_STEP_INDEX >> log
            """);
    Map<String, Object> again = told("s1-2");
    assertThat(map(again.get("step"))).containsEntry("instructions", instructions);
    assertThat(again).containsEntry("changedFiles", List.of("***.txt"));
    assertThat(map(again.get("failure")))
        .containsEntry(
            "summary", "edit exited with 1: no ***\nIt had printed:\nassertion 7 failed\n***\nbye");
    assertThat(String.valueOf(map(again.get("failure")).get("failureSignature")))
        .startsWith("edit exited with <n>: no ***");
    assertThat(Files.readString(folder.resolve("one/logs/step-0001-attempt-1.log")))
        .contains("***\nbye")
        .doesNotContain("\u001b");
  }

  @Test
  void the_same_message_over_the_same_changes_is_no_progress_whatever_else_is_printed()
      throws Exception {
    run(
        "one",
        """
        case $HOLDFAST_STEP_ID$HOLDFAST_STEP_ATTEMPT in
          s11) echo apples come to mind ;;
          s12) echo now think of pears; echo and of plums ;;
          *) echo $HOLDFAST_STEP_INDEX >> log; exit 0 ;;
        esac
        echo '{"failureClass": "transient_runtime", "message": "3 tests fail"}' \
          > $HOLDFAST_STEP_RESULT
        """);
    assertThat(events.stream().filter(EventType.HEAL_ESCALATED::equals)).hasSize(1);
    assertThat(events.stream().filter(EventType.STEP_FAILED::equals)).hasSize(2);
  }

  @Test
  void the_next_worker_gets_the_failure_of_the_step() throws Exception {
    String script =
        TELL
            + """
            [ -e $MARKS/go ] || { echo 'the cause'; echo bye; exit 1; }
            echo $HOLDFAST_STEP_INDEX >> log
            """;
    assertThatThrownBy(() -> run("one", script)).isInstanceOf(FailedException.class);
    int attempts = Objects.requireNonNull(rows.get("s1")).attempt();
    Files.createFile(folder.resolve("go"));
    assertThat(run("two", script).tree()).isEqualTo(undisturbedTree());
    Map<String, Object> told = told("s1-" + (attempts + 1));
    assertThat(map(told.get("failure")))
        .containsEntry("strategy", "queue_retry")
        .containsEntry("failureClass", "stuck_no_progress")
        .containsEntry("summary", "edit exited with 1: bye\nIt had printed:\nthe cause\nbye");
    assertThat(told).containsEntry("changedFiles", List.of());
    assertThat(told("s2-1").get("failure")).isNull();
  }

  @Test
  void the_next_attempt_gets_the_reason_of_the_takeover_and_the_changed_files() throws Exception {
    String reason = "the \"proxy\" is\n{down}";
    TakenOver taken = new TakenOver(reason);
    Files.writeString(taken.work.resolve("by-hand"), "done by hand\n");
    commands.onCommand(PendingCommand.NONE);
    taken.end();
    assertThat(told("s1-1").get("operator")).isNull();
    assertThat(map(told("s1-2").get("operator")))
        .containsEntry(
            "requests",
            List.of(Map.of("action", "takeover", "requestedBy", "ada", "reason", reason)))
        .containsEntry("changedFiles", List.of("by-hand"));
    assertThat(told("s2-1").get("operator")).isNull();
  }
}
