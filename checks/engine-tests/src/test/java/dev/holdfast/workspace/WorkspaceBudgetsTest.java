package dev.holdfast.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JacksonCodec;
import dev.holdfast.LibraryTest;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.artifact.Scratch;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Budgets set by the payload of a job. */
@OnlyWithAll
class WorkspaceBudgetsTest extends LibraryTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Budgets WORKERS = new Budgets(3, LONG, LONG, 2, 1);

  // Fails differently, fails the same, hangs silently, hangs with output; then succeeds.
  private static final Map<String, String> RUNTIMES =
      Map.of(
          "varies", "echo $HOLDFAST_STEP_ATTEMPT > file; exit 1",
          "alike", "[ $HOLDFAST_STEP_ATTEMPT -gt 2 ] || { echo no; exit 1; }",
          "hangs", "[ $HOLDFAST_STEP_ATTEMPT -gt 1 ] || while :; do sleep 0.1; done",
          "talks", "[ $HOLDFAST_STEP_ATTEMPT -gt 1 ] || while :; do echo x; sleep 0.1; done");

  @TempDir Path folder;

  private JobId ended(String runtime, String budgets) throws Exception {
    Process made =
        new ProcessBuilder(
                "/bin/sh",
                "-ec",
                "git init -q -b main repo; cd repo; echo 0 > log; git add -A;"
                    + " git -c user.name=t -c user.email=t@localhost commit -q -m start")
            .directory(folder.toFile())
            .start();
    assertThat(made.waitFor()).isZero();
    JobId id =
        enqueue(
            Job.of(
                    "workspace",
                    new Json(
                        """
                        {"objective": "x", "repository": {"url": "%s"},
                         "steps": [{"id": "only", "runtime": "%s"}], "budgets": {%s}}
                        """
                            .formatted(folder.resolve("repo"), runtime, budgets)))
                .maxAttempts(1));
    start(
        worker()
            .scratch(new Scratch(folder.resolve("scratch"), true))
            .budgets(WORKERS)
            .handle(
                new Workspaces(
                        Map.of(
                            runtime,
                            new RuntimeCommand(
                                List.of(
                                    "/bin/sh", "-ec", RUNTIMES.getOrDefault(runtime, "exit 99")),
                                Map.of())),
                        folder.resolve("cache"),
                        Map.of())
                    .kind(new JacksonCodec())));
    until(() -> job(id).state().isTerminal());
    return id;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          varies | "jobSelfHealMaxResets": 0                        | 3 | exhausted
          varies | "jobSelfHealMaxResets": 0, "stepMaxAttempts": 2  | 2 | exhausted
          varies | "stepMaxAttempts": 2                             | 4 | exhausted
          alike  |                                                  | 2 | escalated
          alike  | "stepNoProgressLimit": 3                         | 2 | triggered
          """)
  void a_payload_may_set_the_number_of_attempts(
      String runtime, String budgets, int failures, String lastWord) throws Exception {
    JobId id = ended(runtime, budgets == null ? "" : budgets);
    List<String> steps = steps(id);
    assertThat(steps.stream().filter("failed"::equals)).hasSize(failures);
    assertThat(steps.stream().filter(type -> type.startsWith("self_heal.")).toList().getLast())
        .isEqualTo("self_heal." + lastWord);
  }

  @ParameterizedTest
  @Execution(ExecutionMode.CONCURRENT)
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          hangs | "stepIdleTimeoutSeconds": 10.5 | gave no sign of life for 10.5 s
          talks | "stepTimeoutSeconds": 10.5     | took longer than 10.5 s
          """)
  void a_payload_may_set_the_timeouts(String runtime, String budgets, String said)
      throws Exception {
    JobId id = ended(runtime, budgets);
    assertThat(firstStepFailure(id)).contains(said);
    // A machine that stands still for a while looks like a step that hangs once more.
    assertThat(steps(id))
        .startsWith("started", "failed", "self_heal.triggered", "started")
        .endsWith("started", "finished");
  }

  @Test
  void invalid_budgets_are_refused_with_a_reason() throws Exception {
    JobId id = ended("alike", "\"stepMaxAttempts\": 0");
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("step_max_attempts must be 1 or more");
    assertThat(failure(id).retryable()).isFalse();
    assertThat(steps(id)).isEmpty();
  }
}
