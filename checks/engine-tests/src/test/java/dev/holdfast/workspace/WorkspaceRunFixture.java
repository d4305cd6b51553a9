package dev.holdfast.workspace;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.JacksonCodec;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.wait.Wait;
import dev.holdfast.redaction.Scrubber;
import dev.holdfast.worker.handler.JobWaits;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.Journal;
import dev.holdfast.worker.steps.ReceivedCommands;
import dev.holdfast.worker.steps.StepLoop;
import dev.holdfast.worker.steps.StepMetrics;
import dev.holdfast.workspace.git.Git;
import dev.holdfast.workspace.git.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
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
import org.junit.jupiter.api.io.TempDir;

/** Runs of one job by workers that know only what an earlier one has reported. */
abstract class WorkspaceRunFixture {
  static final Codec CODEC = new JacksonCodec();
  static final int STEPS = 5;
  static final Budgets CALM = new Budgets(3, Duration.ofMinutes(1), Duration.ofMinutes(1), 2, 1);

  @TempDir Path folder;
  final Map<String, Report.Step> rows = new LinkedHashMap<>();
  final Map<String, Patch> patches = new HashMap<>();
  final List<String> events = new CopyOnWriteArrayList<>();
  final Map<String, Json> failures = new HashMap<>();
  final List<String> logged = new CopyOnWriteArrayList<>();
  final ReceivedCommands commands = new ReceivedCommands();
  final List<String> counted = new CopyOnWriteArrayList<>();
  final List<String> progress = new CopyOnWriteArrayList<>();
  Budgets budgets = CALM;
  Map<String, String> gitSees = Map.of();
  Runnable beforeThirdStep = () -> {};
  final BlockingQueue<Map<String, Object>> acknowledged = new LinkedBlockingQueue<>();
  List<String> secrets = List.of();
  @Nullable String instructions;
  Runnable beforeThirdPatch = () -> {};
  @Nullable StepLoop loop;
  int rebuilt;

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

  void write(Report report) {
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
        acknowledged.add(map(CODEC.decode(event.data(), Map.class)));
      }
      default -> throw new AssertionError(report);
    }
  }

  final class Counted implements StepMetrics {
    @Override
    public void count(String metric, Map<String, String> tags) {
      counted.add(metric);
    }

    @Override
    public void time(String metric, Map<String, String> tags, Duration took) {}
  }

  /** As another worker would run it: it knows what the database knows. */
  WorkspaceRun.Result run(String name, String script) throws Exception {
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
                    failures.get(id),
                    null)));
    Path place = folder.resolve(name);
    Scrubber scrubber = Scrubber.knowing(secrets);
    Journal journal = new Journal(new Lease(JobId.next(), 1), CODEC, this::write, new Counted());
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
                CODEC,
                scrubber,
                commands,
                new Host()),
            loop)
        .run(known, budgets);
  }

  final class Host implements WorkspaceRun.Host {
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
    public JobWaits.Over await(int index, Wait wait) {
      throw new AssertionError("no step waits: " + wait);
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

  static final String EDIT =
      "echo $HOLDFAST_STEP_INDEX >> log; [ $HOLDFAST_STEP_INDEX -lt 5 ] || [ -e $MARKS/go ]";

  String undisturbedTree() throws Exception {
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

  static final String TELL =
      "cp $HOLDFAST_RETRY_CONTEXT $MARKS/$HOLDFAST_STEP_ID-$HOLDFAST_STEP_ATTEMPT.json\n";

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(@Nullable Object node) {
    return (Map<String, Object>) Objects.requireNonNull(node);
  }

  /** Runs until the first attempt is taken over, with its workspace in the operator's hands. */
  final class TakenOver {
    final CompletableFuture<WorkspaceRun.Result> result = new CompletableFuture<>();
    final Path work;

    TakenOver(String reason) throws Exception {
      Thread.ofVirtual().start(this::run);
      await().atMost(SOON).until(() -> logged.contains("waiting"));
      commands.onCommand(
          new PendingCommand(false, true, null, new PendingCommand.HeldBy("ada", reason)));
      Map<String, Object> acked =
          Objects.requireNonNull(acknowledged.poll(SOON.toSeconds(), TimeUnit.SECONDS));
      work = Path.of(String.valueOf(acked.get("workspace")));
    }

    private void run() {
      try {
        result.complete(
            WorkspaceRunFixture.this.run(
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

  Map<String, Object> told(String stepAndAttempt) throws Exception {
    return map(
        CODEC.decode(
            new Json(Files.readString(folder.resolve(stepAndAttempt + ".json"))), Map.class));
  }
}
