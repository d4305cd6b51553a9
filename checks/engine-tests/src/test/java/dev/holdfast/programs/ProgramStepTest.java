package dev.holdfast.programs;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.worker.steps.Budgets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A program that a step of a handler runs. */
@OnlyWithAll
class ProgramStepTest extends ProgramFixture {
  private static final Duration LONG = Duration.ofMinutes(1);

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_program_that_hangs_in_a_step_is_ended_with_the_step() throws Exception {
    Path pid = folder.resolve("pid");
    AtomicInteger runs = new AtomicInteger();
    JobId id = enqueue(Job.of("ingest"));
    start(
        worker()
            .budgets(new Budgets(3, LONG, AMPLE, 2, 1))
            .handle(
                "ingest",
                Json.class,
                AT_ONCE,
                (payload, context) ->
                    context.step(
                        "run",
                        Integer.class,
                        () ->
                            ProgramRunner.run(
                                context,
                                List.of(
                                    "/bin/sh",
                                    "-c",
                                    runs.incrementAndGet() == 1
                                        ? "echo $$ > " + pid + "; exec sleep 1000"
                                        : "true"),
                                line -> {},
                                line -> {}))));
    await(id, JobState.SUCCEEDED);
    long hung = Long.parseLong(Files.readString(pid).strip());
    until(() -> ProcessHandle.of(hung).isEmpty());
    assertThat(steps(id)).contains("self_heal.triggered");
  }
}
