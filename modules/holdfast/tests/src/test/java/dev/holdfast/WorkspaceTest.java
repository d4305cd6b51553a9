package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.Artifact;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.steps.Budgets;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.workspace.RuntimeCommand;
import dev.holdfast.workspace.WorkspaceJob;
import dev.holdfast.workspace.Workspaces;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Steps that are programs, in a real clone of a real repository. */
class WorkspaceTest extends LibraryTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final String SECRET = "correct-horse-battery-9";

  @TempDir Path folder;
  private final Map<String, String> runtimes = new HashMap<>();
  private final List<String> known = new ArrayList<>(List.of(SECRET));
  private int patchBytes = Workspace.PATCH_BYTES;
  private Budgets budgets = new Budgets(3, LONG, LONG, 2, 1);

  @BeforeEach
  void makeRepository() throws Exception {
    sh(
        """
        git init -q -b main repo; cd repo
        git config user.name t; git config user.email t@localhost
        printf 'one\\n' > a.txt; mkdir src; printf 'two\\n' > src/b.txt
        git add -A; git commit -q -m start
        """);
  }

  private String sh(String script) throws Exception {
    Process process =
        new ProcessBuilder("/bin/sh", "-ec", script)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said.strip();
  }

  /** Steps named by their runtimes, which are shell scripts; {@code $MARKS} is a folder. */
  private JobId enqueued(String... steps) {
    return enqueue(
        Job.of(
            "workspace",
            new WorkspaceJob(
                "make it better",
                new WorkspaceJob.Source(folder.resolve("repo").toString(), "main"),
                Arrays.stream(steps)
                    .map(name -> new WorkspaceJob.Task(name, "Step " + name, "do " + name, name))
                    .toList(),
                List.of("touch nothing else"),
                null)));
  }

  private void working() {
    Map<String, RuntimeCommand> commands = new HashMap<>();
    runtimes.forEach(
        (name, script) ->
            commands.put(
                name,
                new RuntimeCommand(
                    List.of("/bin/sh", "-ec", script),
                    Map.of("MARKS", folder.toString(), "API_TOKEN", SECRET))));
    start(
        worker()
            .timings(
                new Timings(
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(30),
                    Duration.ZERO,
                    Duration.ofSeconds(2)))
            .scratch(new Scratch(folder.resolve("scratch"), true))
            .artifacts(new FolderStore(folder.resolve("artifacts")))
            .budgets(budgets)
            .redact(Scrubber.knowing(known)::scrub)
            .handle(
                new Workspaces(commands, folder.resolve("cache"), Map.of(), Git.TIMEOUT, patchBytes)
                    .kind(new JacksonCodec(), Scrubber.knowing(known))
                    .retry(AT_ONCE)));
  }

  private List<String> steps(JobId id) {
    return timeline(id).stream()
        .filter(type -> type.startsWith("task."))
        .map(type -> type.replace("task.", "").replace("step.attempt.", ""))
        .toList();
  }

  private String data(JobId id, String type) {
    return holdfast.queries().timeline(id).stream()
        .filter(event -> event.type().equals(type))
        .map(JobEvent::data)
        .map(Json::text)
        .reduce((first, last) -> last)
        .orElse("none");
  }

  private String patch(JobId id, String step) {
    return new String(holdfast.queries().patch(id, step).orElseThrow().bytes(), UTF_8);
  }

  private String checkpoint(JobId id, String step) {
    return String.valueOf(holdfast.queries().step(id, step).orElseThrow().checkpoint());
  }

  private Path scratch(JobId id, int attempt) {
    return folder.resolve("scratch").resolve(id.toString()).resolve(Integer.toString(attempt));
  }

  private void ask(JobId id, CommandAction action, @Nullable String step) {
    assertThat(holdfast.jobs().command(id, new JobCommand(action, step, "ada", "test"), null))
        .isEqualTo(JobCommand.Answer.ACCEPTED);
  }

  /** Soon, that is: whoever adopts the dead may take a moment to bury them. */
  private void assertGone(String file) throws IOException {
    long pid = Long.parseLong(Files.readString(folder.resolve(file)).strip());
    until(() -> ProcessHandle.of(pid).isEmpty());
  }

  // ---- checkpoints

  @Test
  void every_step_leaves_a_patch_and_a_state_and_the_job_all_of_them() throws Exception {
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

  // ---- who is left behind

  /**
   * Without environment, session and parent, it used to go on writing where the next step works.
   */
  @Test
  void nobody_of_one_step_is_at_work_in_the_workspace_of_the_next() throws Exception {
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
  void how_large_a_patch_may_be_is_a_setting() throws Exception {
    patchBytes = 10_000;
    runtimes.put("large", "head -c 100000 /dev/urandom > large");
    JobId id = enqueued("large");
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("larger than 10,000 bytes", "patchMegabytes");
  }

  // ---- healing

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_command_that_hangs_is_ended_with_all_it_started_and_done_in_the_same_workspace()
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
  void what_fails_alike_over_the_same_changes_gets_a_new_workspace_with_the_steps_before_it()
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
  void a_step_that_changes_nothing_is_a_step_all_the_same() throws Exception {
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
  void a_patch_that_does_not_apply_fails_loudly_and_keeps_the_old_workspace() throws Exception {
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
  void what_cannot_work_fails_at_once_with_its_reason() throws Exception {
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

  @Test
  void a_runtime_may_say_itself_what_is_wrong() throws Exception {
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
  void of_all_that_a_runtime_prints_the_end_is_kept() throws Exception {
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
  void a_result_that_is_none_is_as_good_as_no_result() throws Exception {
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
  void a_cancelled_job_ends_its_runtime() throws Exception {
    runtimes.put("long", "echo $$ > $MARKS/pid; while :; do sleep 1; done");
    JobId id = enqueued("long");
    working();
    until(() -> Files.exists(folder.resolve("pid")) && Files.size(folder.resolve("pid")) > 0);
    holdfast.cancel(id, "enough");
    await(id, JobState.CANCELLED);
    assertGone("pid");
  }

  // ---- operators

  /** What a heartbeat brings back is known for certain when the next one has come. */
  private void heard(JobId id) {
    for (int beat = 1; beat <= 2; beat++) {
      Instant before = Instant.now();
      until(() -> before.isBefore(Objects.requireNonNull(job(id).heartbeatAt())));
    }
  }

  @Test
  void who_takes_a_job_over_is_told_where_it_lies_and_what_he_does_there_counts() throws Exception {
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
  void who_takes_a_job_over_between_two_attempts_is_told_too() throws Exception {
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
  void who_has_taken_a_job_over_says_that_the_step_is_done_and_it_goes_on() throws Exception {
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
  void a_job_that_has_succeeded_is_sent_back_to_a_step() throws Exception {
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
  void an_operator_goes_back_to_an_earlier_step_in_a_new_workspace() throws Exception {
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
  void a_paused_job_does_after_the_pause_what_was_asked_meanwhile() throws Exception {
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

  // ---- secrets

  @Test
  void no_secret_is_kept_anywhere() throws Exception {
    runtimes.put(
        "talk",
        """
        echo "using $API_TOKEN"; printf %s "$API_TOKEN" | base64
        [ -e $MARKS/again ] || { touch $MARKS/again; echo "refused: token $API_TOKEN"; exit 1; }
        echo "done with $API_TOKEN"; echo x > x
        """);
    runtimes.put("leak", "echo $API_TOKEN > config");
    runtimes.put(
        "hide", "{ printf '\\0\\1\\2'; printf %s $API_TOKEN | sed 's/./&\\x0/g'; } > config");
    runtimes.put(
        "draw",
        """
        colour() { printf %s "$API_TOKEN" | sed "s/./\\x1b[3&m&\\x1b[0m/g; s/3[^0-9]m/31m/g"; }
        colour; echo " is refused"; printf '%s\\n' "$API_TOKEN" | sed 's/./&\\x8&/g'
        printf '{"failureClass": "deterministic_policy", "message": "no %s"}' \\
          "$(colour | sed 's/\\x1b/\\\\u001b/g')" > $HOLDFAST_STEP_RESULT
        exit 1
        """);
    JobId talks = enqueued("talk");
    JobId draws = enqueued("draw");
    List<JobId> leaks = List.of(enqueued("leak"), enqueued("hide"));
    working();
    await(talks, JobState.SUCCEEDED);
    await(draws, JobState.FAILED);
    assertThat(failure(draws).message()).endsWith("draw exited with 1: no ***");
    assertThat(failure(draws).stackTrace()).isEqualTo("*** is refused\n***");
    assertThat(data(draws, EventType.STEP_FAILED)).contains("no *** #", "*** is refused");
    for (JobId leak : leaks) {
      await(leak, JobState.FAILED);
      assertThat(failure(leak).code()).isEqualTo("DETERMINISTIC_POLICY");
    }
    assertThat(
            sh("grep -rlaP 'c.{0,9}o.{0,9}r.{0,9}r.{0,9}e' scratch/" + draws + "/1/logs || true"))
        .isEmpty();
    for (String table : List.of("job", "event", "step", "attempt")) {
      assertThat(
              db.count(
                  "SELECT count(*) FROM holdfast." + table + " t WHERE t::text LIKE ?",
                  "%" + SECRET + "%"))
          .as(table)
          .isZero();
    }
    String encoded = sh("printf %s " + SECRET + " | base64");
    assertThat(sh("grep -rlE '" + SECRET + "|" + encoded + "' scratch/" + talks + " || true"))
        .isEmpty();
  }

  /** Said in every way a program says things, in a failure and in a success. */
  @Test
  void a_hundred_planted_secrets_are_found_nowhere() throws Exception {
    List<String> secrets =
        IntStream.range(0, 100)
            .mapToObj(i -> "S3cr3t-%s%d/+é".formatted(Long.toString(i * 7_919L + 1_000_003, 36), i))
            .toList();
    Path planted = Files.write(folder.resolve("planted"), secrets);
    runtimes.put(
        "talk",
        """
        i=0
        while read -r secret; do
          i=$((i + 1))
          case $((i % 5)) in
            0) echo "token $secret refused" >&2 ;;
            1) printf %s "$secret" | base64 ;;
            2) printf 'half of %s' "$secret" ; sleep 0.001; echo ;;
            3) printf '{"password": "%s"}\\n' "$secret" ;;
            4) echo "https://user:$secret@example.org/" ;;
          esac
        done < $MARKS/planted
        printf '{"summary": "used %s"}' "$(head -n 1 $MARKS/planted)" > $HOLDFAST_STEP_RESULT
        [ $HOLDFAST_STEP_ATTEMPT -gt 1 ] || { tail -n 3 $MARKS/planted; exit 1; }
        cp $HOLDFAST_RETRY_CONTEXT copy-of-context; ps -ef > $MARKS/processes
        """);
    JobId id = enqueued("talk");
    known.addAll(secrets);
    StringBuilder kept = new StringBuilder();
    try (CapturedLog log = new CapturedLog()) {
      working();
      await(id, JobState.SUCCEEDED);
      assertThat(log.lines(Level.INFO, "step talk attempt 1")).isNotEmpty();
      Stream.of(Level.INFO, Level.WARN, Level.ERROR)
          .forEach(level -> kept.append(log.lines(level, "")));
    }
    Files.delete(planted);
    for (String table : List.of("job", "event", "step", "attempt", "completion", "log")) {
      kept.append(
          db.queryOne(
              String.class,
              "SELECT coalesce(string_agg(t::text, ''), '') FROM holdfast." + table + " t"));
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        kept.append(new String(Files.readAllBytes(file), UTF_8));
      }
    }
    kept.append(patch(id, "talk"));
    String all = kept.toString();
    assertThat(all).contains("refused", "used ***");
    Base64.Encoder base64 = Base64.getEncoder();
    for (String secret : secrets) {
      assertThat(all.contains(secret)).as(secret).isFalse();
      assertThat(all.contains(base64.encodeToString(secret.getBytes(UTF_8)))).as(secret).isFalse();
    }
  }

  @Test
  void a_payload_that_makes_no_sense_is_refused_in_words() throws IOException {
    JobId id = enqueue(Job.of("workspace", Map.of("objective", "x")));
    working();
    await(id, JobState.FAILED);
    assertThat(failure(id).message()).contains("repository");
  }
}
