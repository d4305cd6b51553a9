package dev.holdfast.workspace;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Json;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import dev.holdfast.steps.Journal;
import dev.holdfast.steps.ReceivedCommands;
import dev.holdfast.steps.StepLoop;
import dev.holdfast.steps.StepMetrics;
import dev.holdfast.steps.TestCodec;
import dev.holdfast.worker.artifact.FileTrees;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.StaleGitLocks;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workspaces that are built and rebuilt while things happen to them, and whose time that is. */
class WorkspaceRunTest {
  private static final int STEPS = 5;
  private static final Budgets CALM =
      new Budgets(3, Duration.ofMinutes(1), Duration.ofMinutes(1), 2, 1);

  @TempDir Path folder;
  private final Map<String, Report.Step> rows = new LinkedHashMap<>();
  private final Map<String, Patch> patches = new HashMap<>();
  private final List<String> events = new CopyOnWriteArrayList<>();
  private final Map<String, Json> failures = new HashMap<>();
  private final List<String> logged = new CopyOnWriteArrayList<>();
  private final ReceivedCommands commands = new ReceivedCommands();
  private final List<String> counted = new CopyOnWriteArrayList<>();
  private final List<String> progress = new CopyOnWriteArrayList<>();
  private Budgets budgets = CALM;
  private Map<String, String> gitSees = Map.of();
  private Runnable beforeThirdStep = () -> {};
  private final BlockingQueue<Map<String, Object>> acknowledged = new LinkedBlockingQueue<>();
  private List<String> secrets = List.of();
  private @Nullable String instructions;
  private Runnable beforeThirdPatch = () -> {};
  private @Nullable StepLoop loop;
  private int rebuilt;

  @BeforeEach
  void makeRepository() throws Exception {
    Process made =
        new ProcessBuilder(
                "/bin/sh",
                "-ec",
                "git init -q -b main repo; cd repo; echo 0 > log; git add -A;"
                    + " git -c user.name=t -c user.email=t@localhost commit -q -m start")
            .directory(folder.toFile())
            .start();
    assertThat(made.waitFor()).isZero();
  }

  private void write(Report report) {
    switch (report) {
      case Report.Step step -> {
        rows.put(step.stepId(), step);
        if (step.patch() != null) {
          patches.put(step.stepId(), step.patch());
        }
        for (Report.Entry event : step.events()) {
          events.add(event.type());
          if (event.type().equals(EventType.STEP_FAILED)) {
            failures.put(step.stepId(), event.data());
          }
        }
      }
      case Report.Event event -> {
        events.add(event.type());
        acknowledged.add(map(TestCodec.CODEC.decode(event.data(), Map.class)));
      }
      default -> throw new AssertionError(report);
    }
  }

  private final class Counted implements StepMetrics {
    @Override
    public void count(String metric, Map<String, String> tags) {
      counted.add(metric);
    }

    @Override
    public void time(String metric, Map<String, String> tags, Duration took) {}
  }

  /** As another worker would run it: it knows what the database knows. */
  private WorkspaceRun.Result run(String name, String script) throws Exception {
    WorkspaceJob job =
        new WorkspaceJob(
            "five lines",
            new WorkspaceJob.Source(folder.resolve("repo").toString(), "main"),
            IntStream.rangeClosed(1, STEPS)
                .mapToObj(i -> new WorkspaceJob.Task("s" + i, null, instructions, "edit"))
                .toList(),
            null,
            null);
    List<StepStatus> known = new ArrayList<>();
    rows.forEach(
        (id, line) ->
            known.add(
                new StepStatus(
                    id,
                    line.index(),
                    line.state(),
                    line.attempt(),
                    0,
                    line.checkpoint(),
                    null,
                    Instant.EPOCH,
                    null,
                    failures.get(id))));
    Path place = folder.resolve(name);
    Scrubber scrubber = Scrubber.knowing(secrets);
    Journal journal =
        new Journal(new Lease(JobId.next(), 1), TestCodec.CODEC, this::write, new Counted());
    loop = new StepLoop(Duration.ofSeconds(5), 0, journal, commands, scrubber::scrub);
    return new WorkspaceRun(
            new WorkspaceRun.Scope(
                job,
                new WorkspaceRun.Site(
                    place,
                    folder.resolve("cache"),
                    Git.installed(folder.resolve("home"), gitSees),
                    Map.of(
                        "edit",
                        new RuntimeCommand(
                            List.of("/bin/sh", "-ec", script), Map.of("MARKS", folder.toString()))),
                    Map.of("PATH", "/usr/bin:/bin"),
                    Duration.ofSeconds(1),
                    Workspace.PATCH_BYTES),
                TestCodec.CODEC,
                scrubber,
                commands,
                new Host()),
            loop)
        .run(known, budgets);
  }

  private final class Host implements WorkspaceRun.Host {
    @Override
    public Optional<Patch> patch(String step) {
      if (step.equals("s3")) {
        rebuilt++;
        if (rebuilt == 1) {
          beforeThirdPatch.run();
        }
      }
      return Optional.ofNullable(patches.get(step));
    }

    @Override
    public void alive() {
      Objects.requireNonNull(loop).alive();
    }

    @Override
    public void log(String line) {
      logged.add(line);
    }

    @Override
    public void progress(int percent, String message) {
      progress.add(message);
      if (message.equals("s3")) {
        beforeThirdStep.run();
      }
    }
  }

  // ---- whose time it is

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
  void no_clock_of_the_program_runs_while_we_clone_and_look_at_what_it_did() throws Exception {
    slowGit(4);
    budgets = new Budgets(3, Duration.ofSeconds(3), Duration.ofSeconds(3), 2, 1);
    assertThat(run("one", "echo $HOLDFAST_STEP_INDEX >> log").steps()).isEqualTo(STEPS);
    assertThat(folder.resolve("clone")).exists();
    assertThat(folder.resolve("diff")).exists();
    assertThat(progress).contains("s1: Receiving objects:  45% (9/20)");
    assertThat(counted).doesNotContain(StepLoop.IDLE_TIMEOUTS, StepLoop.WALL_TIMEOUTS);
  }

  @Test
  void bytes_without_a_newline_and_changed_files_are_signs_of_life() throws Exception {
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

  // ---- workspaces that are not what they were

  @Test
  void a_workspace_that_changed_while_no_step_was_at_work_is_built_anew() throws Exception {
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
        .contains(
            "── the workspace has changed while no step was at work, and is built anew: stray");
  }

  @Test
  void a_workspace_that_somebody_deleted_between_two_steps_is_built_anew() throws Exception {
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
    assertThat(logged).contains("── the workspace is gone, and is built anew");
    assertThat(events).doesNotContain(EventType.STEP_FAILED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rm -rf \"$PWD\"", "rm -rf \"$PWD\"; exit 1", "rm -rf ../../workspace-1"})
  void a_program_that_deletes_its_own_folder_is_cured_by_a_hard_reset(String deletion)
      throws Exception {
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

  /** The git of a program dies with it, and what it was about to write stays locked. */
  @Test
  void locks_left_by_a_killed_git_are_not_in_the_way_of_the_next_attempt() throws Exception {
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
  void no_lock_is_looked_for_where_a_link_leads() throws Exception {
    Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
    Path file = Files.createFile(elsewhere.resolve("old.lock"));
    Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH));
    Path gitDir = Files.createDirectories(folder.resolve("git"));
    Files.createSymbolicLink(gitDir.resolve("refs"), elsewhere);
    StaleGitLocks.clear(gitDir, () -> {});
    StaleGitLocks.clear(Files.createSymbolicLink(folder.resolve("link"), elsewhere), () -> {});
    assertThat(file).exists();
  }

  private static final String EDIT =
      "echo $HOLDFAST_STEP_INDEX >> log; [ $HOLDFAST_STEP_INDEX -lt 5 ] || [ -e $MARKS/go ]";

  private String undisturbedTree() throws Exception {
    return new ProcessBuilder(
            "/bin/sh",
            "-ec",
            "cp -r repo other; cd other; for i in 1 2 3 4 5; do echo $i >> log; done;"
                + " git add -A; git write-tree")
        .directory(folder.toFile())
        .start()
        .inputReader()
        .readLine();
  }

  @Test
  void a_pause_stops_the_rebuild_and_costs_nothing() throws Exception {
    beforeThirdPatch =
        () -> {
          commands.heard(new PendingCommand(true, false, null, null));
          Thread.ofVirtual().start(this::resumeOnceItIsHeldUp);
        };
    WorkspaceRun.Result result =
        run(
            "one",
            "[ $HOLDFAST_STEP_INDEX -lt 5 ] || [ $HOLDFAST_STEP_ATTEMPT -gt 2 ]"
                + " || { echo always; exit 1; }; echo $HOLDFAST_STEP_INDEX >> log");
    assertThat(rebuilt).as("begun, stopped, and begun again").isEqualTo(2);
    assertThat(result.tree()).isEqualTo(undisturbedTree());
    // Two failed alike, one was held up; that one spent nothing.
    assertThat(events.stream().filter(EventType.STEP_FAILED::equals)).hasSize(3);
    assertThat(events.stream().filter(EventType.HEAL_TRIGGERED::equals)).hasSize(1);
    assertThat(events).doesNotContain(EventType.HEAL_EXHAUSTED);
  }

  @Test
  void what_runtimes_print_is_passed_on_as_it_comes_with_the_step_it_is_of() throws Exception {
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

  // ---- what an attempt is told

  private static final String TELL =
      "cp $HOLDFAST_RETRY_CONTEXT $MARKS/$HOLDFAST_STEP_ID-$HOLDFAST_STEP_ATTEMPT.json\n";

  private Map<String, Object> told(String stepAndAttempt) throws Exception {
    return map(
        TestCodec.CODEC.decode(
            new Json(Files.readString(folder.resolve(stepAndAttempt + ".json"))), Map.class));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(@Nullable Object node) {
    return (Map<String, Object>) Objects.requireNonNull(node);
  }

  @Test
  void instructions_arrive_as_written_and_what_was_said_arrives_scrubbed() throws Exception {
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
  void who_says_the_same_over_the_same_changes_makes_no_progress_whatever_else_is_printed()
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
  void the_next_worker_is_told_how_the_step_failed_here() throws Exception {
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

  /** Runs until the first attempt is taken over, with its workspace in the operator's hands. */
  private final class TakenOver {
    final CompletableFuture<WorkspaceRun.Result> result = new CompletableFuture<>();
    final Path work;

    TakenOver(String reason) throws Exception {
      Thread.ofVirtual().start(this::run);
      await().atMost(SOON).until(() -> logged.contains("waiting"));
      commands.heard(
          new PendingCommand(false, true, null, new PendingCommand.HeldBy("ada", reason)));
      Map<String, Object> acked =
          Objects.requireNonNull(acknowledged.poll(SOON.toSeconds(), TimeUnit.SECONDS));
      work = Path.of(String.valueOf(acked.get("workspace")));
    }

    private void run() {
      try {
        result.complete(
            WorkspaceRunTest.this.run(
                "one",
                TELL
                    + """
                    echo $HOLDFAST_STEP_INDEX >> log
                    [ $HOLDFAST_STEP_ID$HOLDFAST_STEP_ATTEMPT != s11 ] || {
                      echo waiting; exec sleep 600; }
                    """));
      } catch (Throwable thrown) {
        result.completeExceptionally(thrown);
      }
    }

    void end() throws Exception {
      result.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void the_next_attempt_is_told_why_it_was_taken_over_and_what_was_changed() throws Exception {
    String reason = "the \"proxy\" is\n{down}";
    TakenOver taken = new TakenOver(reason);
    Files.writeString(taken.work.resolve("by-hand"), "done by hand\n");
    commands.heard(PendingCommand.NONE);
    taken.end();
    assertThat(told("s1-1").get("operator")).isNull();
    assertThat(map(told("s1-2").get("operator")))
        .containsEntry(
            "requests",
            List.of(Map.of("action", "takeover", "requestedBy", "ada", "reason", reason)))
        .containsEntry("changedFiles", List.of("by-hand"));
    assertThat(told("s2-1").get("operator")).isNull();
  }

  // ---- what an operator accepts

  private static PendingCommand accepted() {
    return new PendingCommand(
        false,
        false,
        new PendingCommand.Recovery(CommandAction.ACCEPT_STEP, "s1", "ada", "fine", Instant.EPOCH),
        null);
  }

  @Test
  void what_was_accepted_where_nobody_worked_by_hand_is_done_by_the_program() throws Exception {
    commands.heard(accepted());
    assertThat(run("one", TELL + "echo $HOLDFAST_STEP_INDEX >> log").tree())
        .isEqualTo(undisturbedTree());
    assertThat(events).containsOnlyOnce(EventType.STEP_FAILED);
    assertThat(map(told("s1-2").get("failure")))
        .containsEntry(
            "summary", "what was accepted is not here: it lies where the job was taken over");
  }

  @Test
  void what_was_accepted_and_holds_a_secret_fails_the_job() throws Exception {
    secrets = List.of("correct-horse-battery");
    TakenOver taken = new TakenOver("I log in by hand");
    Files.writeString(taken.work.resolve("by-hand"), secrets.getFirst());
    commands.heard(accepted());
    assertThatThrownBy(taken::end)
        .hasRootCauseInstanceOf(FailedException.class)
        .hasMessageContaining("the changes hold a secret of this worker");
    assertThat(Objects.requireNonNull(rows.get("s1")).state()).isEqualTo(StepState.FAILED);
    assertThat(patches).isEmpty();
  }

  @Test
  void what_was_accepted_and_is_gone_is_done_by_the_program_in_a_new_workspace() throws Exception {
    TakenOver taken = new TakenOver("mine");
    FileTrees.delete(taken.work);
    commands.heard(accepted());
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

  private void resumeOnceItIsHeldUp() {
    while (events.stream().filter(EventType.STEP_FAILED::equals).count() < 3) {
      Thread.onSpinWait();
    }
    commands.heard(PendingCommand.NONE);
  }

  @Test
  void a_job_that_is_stopped_in_the_middle_of_a_rebuild_goes_on_elsewhere() throws Exception {
    Thread handler = Thread.currentThread();
    beforeThirdPatch = handler::interrupt;
    String fails = EDIT + " || { echo always; exit 1; }";
    assertThatThrownBy(() -> run("one", fails)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
    assertThat(Objects.requireNonNull(rows.get("s5")).state()).isEqualTo(StepState.INTERRUPTED);
    Files.createFile(folder.resolve("go"));
    assertThat(run("two", fails).tree()).isEqualTo(undisturbedTree());
  }
}
