package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.steps.Budgets;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Budgets that a step sets itself. */
class StepBudgetsTest extends LibraryTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Budgets WORKERS = new Budgets(3, LONG, LONG, 2, 1);

  private JobId ended(Budgets own, Callable<String> body) {
    JobId id = enqueue(Job.of("ingest").maxAttempts(1));
    start(
        worker()
            .budgets(WORKERS)
            .handle(
                "ingest",
                Json.class,
                AT_ONCE,
                (Json payload, JobContext context) ->
                    context.step("own", String.class, own, body)));
    until(() -> job(id).state().isTerminal());
    return id;
  }

  @Test
  void hard_resets_of_earlier_attempts_of_the_job_count() {
    AtomicInteger tries = new AtomicInteger();
    JobId id = enqueue(Job.of("ingest").maxAttempts(3));
    start(
        worker()
            .budgets(WORKERS)
            .handle(
                "ingest",
                Json.class,
                AT_ONCE,
                (Json payload, JobContext context) ->
                    context.step(
                        "own",
                        String.class,
                        new Budgets(1, LONG, LONG, 2, 1),
                        () -> {
                          throw new IllegalStateException("try " + tries.incrementAndGet());
                        })));
    until(() -> job(id).state().isTerminal());
    // The first attempt of the job has the only reset, and so two tries.
    assertThat(tries).hasValue(4);
    assertThat(steps(id).stream().filter("self_heal.escalated"::equals)).hasSize(1);
    assertThat(steps(id).stream().filter("self_heal.exhausted"::equals)).hasSize(3);
  }

  @Test
  void a_step_may_set_its_number_of_attempts() {
    AtomicInteger tries = new AtomicInteger();
    JobId id =
        ended(
            new Budgets(5, LONG, LONG, 5, 0),
            () -> {
              if (tries.incrementAndGet() < 5) {
                throw new IllegalStateException("always the same");
              }
              return "made";
            });
    assertThat(tries).hasValue(5);
    assertThat(steps(id)).doesNotContain("self_heal.escalated", "self_heal.exhausted");
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void a_step_may_set_its_timeouts() {
    AtomicInteger tries = new AtomicInteger();
    JobId id =
        ended(
            new Budgets(3, LONG, AMPLE, 2, 0),
            () -> {
              if (tries.incrementAndGet() == 1) {
                new CountDownLatch(1).await();
              }
              return "made";
            });
    assertThat(firstStepFailure(id)).contains("gave no sign of life for 10.0 s");
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }
}
