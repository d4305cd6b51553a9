package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.artifact.FileTrees;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.workspace.git.StaleGitLocks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workspaces that are built and rebuilt, and which time counts for the program. */
@OnlyWithAll
class WorkspaceRunTest extends WorkspaceRunFixture {
  // ---- which time counts for the program

  /** A git that takes its time: for the first clone, and for the first look at what has changed. */
  private void slowGit(int seconds) throws Exception {
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path git =
        Files.writeString(
            bin.resolve("git"),
            """
            #!/bin/sh
            case " $* " in
              *" clone --progress "*) printf 'Receiving objects:  45%%%% (9/20)\r' >&2; slow=clone ;;
              *" diff-tree "*) slow=diff ;;
            esac
            if [ -n "$slow" ] && [ ! -e %1$s/$slow ]; then
              touch %1$s/$slow
              sleep %2$d
            fi
            exec /usr/bin/git "$@"
            """
                .formatted(folder, seconds));
    Files.setPosixFilePermissions(git, PosixFilePermissions.fromString("rwxr-xr-x"));
    gitSees = Map.of("PATH", bin + ":/usr/bin:/bin");
  }

  @Test
  void timeouts_of_the_program_do_not_count_clone_and_diff() throws Exception {
    slowGit(12);
    budgets = new Budgets(3, Duration.ofSeconds(10), Duration.ofSeconds(10), 2, 1);
    assertThat(run("one", "echo $HOLDFAST_STEP_INDEX >> log").steps()).isEqualTo(STEPS);
    assertThat(folder.resolve("clone")).exists();
    assertThat(folder.resolve("diff")).exists();
    assertThat(progress).contains("s1: Receiving objects:  45% (9/20)");
    assertThat(counted).doesNotContain(StepLoop.IDLE_TIMEOUTS, StepLoop.WALL_TIMEOUTS);
  }

  @Test
  void bytes_without_a_newline_and_changed_files_count_as_activity() throws Exception {
    budgets = new Budgets(3, Duration.ofMinutes(1), Duration.ofSeconds(3), 2, 1);
    String script =
        """
        for i in 1 2 3 4 5 6 7 8 9 10; do
          case $HOLDFAST_STEP_INDEX in
            1) printf .; sleep 0.4 ;;
            2) echo $i > busy; touch -d '2 days ago' busy; sleep 0.4 ;;
          esac
        done
        echo $HOLDFAST_STEP_INDEX >> log
        """;
    assertThat(run("one", script).steps()).isEqualTo(STEPS);
    assertThat(counted).doesNotContain(StepLoop.IDLE_TIMEOUTS);
  }

  // ---- workspaces that changed between steps

  @Test
  void a_workspace_that_changed_between_two_steps_is_rebuilt() throws Exception {
    beforeThirdStep =
        () -> {
          try {
            Files.writeString(folder.resolve("one/workspace-1/work/stray"), "not of any step");
          } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
          }
        };
    WorkspaceRun.Result result = run("one", "echo $HOLDFAST_STEP_INDEX >> log");
    assertThat(result.tree()).isEqualTo(undisturbedTree());
    assertThat(result.changedFiles()).containsExactly("log");
    assertThat(logged)
        .contains("── the workspace has changed while no step ran, and is rebuilt: stray");
  }

  @Test
  void a_workspace_that_was_deleted_between_two_steps_is_rebuilt() throws Exception {
    beforeThirdStep =
        () -> {
          try {
            FileTrees.delete(folder.resolve("one/workspace-1"));
          } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
          }
        };
    WorkspaceRun.Result result = run("one", "echo $HOLDFAST_STEP_INDEX >> log");
    assertThat(result.tree()).isEqualTo(undisturbedTree());
    assertThat(logged).contains("── the workspace is gone, and is rebuilt");
    assertThat(events).doesNotContain(EventType.STEP_FAILED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rm -rf \"$PWD\"", "rm -rf \"$PWD\"; exit 1", "rm -rf ../../workspace-1"})
  void a_program_that_deletes_its_own_folder_gets_a_hard_reset(String deletion) throws Exception {
    WorkspaceRun.Result result =
        run(
            "one",
            """
            if [ $HOLDFAST_STEP_INDEX = 2 ] && [ $HOLDFAST_STEP_ATTEMPT = 1 ]; then
              %s
            else
              echo $HOLDFAST_STEP_INDEX >> log
            fi
            """
                .formatted(deletion));
    assertThat(result.tree()).isEqualTo(undisturbedTree());
    assertThat(events).containsOnlyOnce(EventType.STEP_FAILED, EventType.HEAL_ESCALATED);
    assertThat(events).doesNotContain(EventType.HEAL_TRIGGERED);
  }

  /** The git of a program is killed with it and leaves its lock file. */
  @Test
  void lock_files_of_a_killed_git_do_not_block_the_next_attempt() throws Exception {
    String script =
        """
        echo $HOLDFAST_STEP_INDEX >> log
        if [ ! -e $MARKS/died ]; then
          touch $MARKS/died
          touch -d '1 minute ago' .git/index.lock .git/HEAD.lock .git/refs/heads/x.lock
          exit 1
        fi
        git add -A
        git -c user.name=t -c user.email=t@localhost commit -q -m $HOLDFAST_STEP_INDEX
        git branch -f x
        """;
    assertThat(run("a", script).steps()).isEqualTo(STEPS);
    assertThat(events).containsOnlyOnce(EventType.STEP_FAILED);
  }

  @Test
  void lock_files_are_not_searched_through_symbolic_links() throws Exception {
    Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
    Path file = Files.createFile(elsewhere.resolve("old.lock"));
    Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH));
    Path gitDir = Files.createDirectories(folder.resolve("git"));
    Files.createSymbolicLink(gitDir.resolve("refs"), elsewhere);
    StaleGitLocks.clear(gitDir, () -> {});
    StaleGitLocks.clear(Files.createSymbolicLink(folder.resolve("link"), elsewhere), () -> {});
    assertThat(file).exists();
  }

  @Test
  void a_pause_stops_the_rebuild_and_uses_no_budget() throws Exception {
    beforeThirdPatch =
        () -> {
          commands.onCommand(new PendingCommand(true, false, null, null));
          Thread.ofVirtual().start(this::resumeOnceItIsHeldUp);
        };
    WorkspaceRun.Result result =
        run(
            "one",
            "[ $HOLDFAST_STEP_INDEX -lt 5 ] || [ $HOLDFAST_STEP_ATTEMPT -gt 2 ]"
                + " || { echo always; exit 1; }; echo $HOLDFAST_STEP_INDEX >> log");
    assertThat(rebuilt).as("begun, stopped, and begun again").isEqualTo(2);
    assertThat(result.tree()).isEqualTo(undisturbedTree());
    // Two failed the same; while the workspace was rebuilt there was no attempt.
    assertThat(events.stream().filter(EventType.STEP_FAILED::equals)).hasSize(2);
    assertThat(events.stream().filter(EventType.HEAL_TRIGGERED::equals)).hasSize(1);
    assertThat(events).doesNotContain(EventType.HEAL_EXHAUSTED);
  }

  @Test
  void output_of_runtimes_is_passed_on_at_once_with_its_step() throws Exception {
    run(
        "one",
        "echo out-$HOLDFAST_STEP_INDEX; echo password=hunter22 >&2; echo $HOLDFAST_STEP_INDEX > log");
    assertThat(logged)
        .contains("── step s1, attempt 1", "out-1", "── step s5, attempt 1", "out-5")
        .contains("password=***");
    assertThat(logged.indexOf("out-1"))
        .isBetween(
            logged.indexOf("── step s1, attempt 1"), logged.indexOf("── step s2, attempt 1"));
  }

  private void resumeOnceItIsHeldUp() {
    while (acknowledged.isEmpty()) {
      Thread.onSpinWait();
    }
    commands.onCommand(PendingCommand.NONE);
  }

  @Test
  void a_job_stopped_during_a_rebuild_continues_on_another_worker() throws Exception {
    Thread handler = Thread.currentThread();
    beforeThirdPatch = handler::interrupt;
    String fails = EDIT + " || { echo always; exit 1; }";
    assertThatThrownBy(() -> run("one", fails)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(Objects.requireNonNull(rows.get("s5")).state())
        .as("no attempt was under way")
        .isEqualTo(StepState.FAILED);
    Files.createFile(folder.resolve("go"));
    assertThat(run("two", fails).tree()).isEqualTo(undisturbedTree());
  }
}
