package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.Extent;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.steps.Budgets;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.StepException;
import dev.holdfast.worker.steps.StepLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Many jobs whose steps fail and hang at random, the same way every time. */
class RandomStepFailuresTest extends LibraryTest {
  private static final long SEED = 42;
  private static final int JOBS = Extent.of(60, 200);
  private static final int STEPS = 3;

  /** How a step goes wrong, and how often before it goes well. */
  enum Fault {
    NONE,
    TRANSIENT,
    HANGS,
    LOOPS,
    HOPELESS
  }

  record Storm(long seed) {}

  private static Fault fault(Random random) {
    int dice = random.nextInt(100);
    return dice < 40
        ? Fault.NONE
        : dice < 65
            ? Fault.TRANSIENT
            : dice < 80 ? Fault.HANGS : dice < 97 ? Fault.LOOPS : Fault.HOPELESS;
  }

  private static boolean isHopeless(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < STEPS; i++) {
      if (fault(random) == Fault.HOPELESS) {
        return true;
      }
    }
    return false;
  }

  @Test
  void recoverable_steps_succeed_and_the_others_fail_their_jobs_at_once() {
    Map<String, AtomicInteger> tries = new ConcurrentHashMap<>();
    List<JobId> healed = new ArrayList<>();
    List<JobId> hopeless = new ArrayList<>();
    Random random = new Random(SEED);
    for (int i = 0; i < JOBS; i++) {
      long seed = random.nextLong();
      JobId id = enqueue(Job.of("storm", new Storm(seed)));
      (isHopeless(seed) ? hopeless : healed).add(id);
    }
    Worker worker =
        start(
            worker()
                .concurrency(20)
                .budgets(new Budgets(3, Duration.ofMinutes(1), Duration.ofMillis(500), 2, STEPS))
                .handle(
                    "storm",
                    Storm.class,
                    AT_ONCE,
                    (storm, context) -> {
                      Random its = new Random(storm.seed());
                      for (int i = 1; i <= STEPS; i++) {
                        Fault fault = fault(its);
                        String name = context.id() + " " + i;
                        context.step(
                            "step-" + i,
                            () ->
                                suffer(
                                    fault,
                                    tries
                                        .computeIfAbsent(name, n -> new AtomicInteger())
                                        .incrementAndGet()));
                      }
                      return "through";
                    }));
    until(() -> db.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL") == 0);
    assertThat(hopeless).isNotEmpty();
    assertThat(healed).allSatisfy(id -> assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED));
    assertThat(hopeless).allSatisfy(id -> assertThat(job(id).state()).isEqualTo(JobState.FAILED));
    assertThat(db.count("SELECT sum(failures) FROM holdfast.job"))
        .as("no job was requeued")
        .isZero();
    // With the failure itself, in one transaction.
    assertThat(
            db.count(
                """
                SELECT count(*) FROM holdfast.event e
                  JOIN holdfast.event f ON f.job_id = e.job_id AND f.number = e.number - 1
                 WHERE e.type = 'task.self_heal.exhausted' AND f.type = 'task.step.attempt.failed'
                   AND e.data ->> 'failureClass' = 'deterministic_contract'
                   AND e.at - f.at < interval '1 second'
                """))
        .isEqualTo(hopeless.size());
    Map<String, Double> metrics = worker.metrics().snapshot();
    double attempts =
        Stream.concat(healed.stream(), hopeless.stream())
            .flatMap(id -> timeline(id).stream())
            .filter(EventType.STEP_STARTED::equals)
            .count();
    assertThat(
            metrics.entrySet().stream()
                .filter(metric -> metric.getKey().startsWith(StepLoop.DURATION + "_count"))
                .mapToDouble(Map.Entry::getValue)
                .sum())
        .isEqualTo(attempts);
    assertThat(counted(metrics, StepLoop.RECOVERED)).isPositive();
    assertThat(counted(metrics, StepLoop.EXHAUSTED)).isEqualTo(hopeless.size());
    assertThat(counted(metrics, StepLoop.IDLE_TIMEOUTS)).isPositive();
    assertThat(counted(metrics, StepLoop.NO_PROGRESS)).isPositive();
  }

  private static double counted(Map<String, Double> metrics, String name) {
    return metrics.entrySet().stream()
        .filter(metric -> metric.getKey().startsWith(name))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  private static void suffer(Fault fault, int attempt) throws InterruptedException {
    switch (fault) {
      case NONE -> {}
      case TRANSIENT -> {
        if (attempt <= 2) {
          throw new IllegalStateException(attempt == 1 ? "connection reset" : "no route to host");
        }
      }
      case HANGS -> {
        if (attempt == 1) {
          new CountDownLatch(1).await();
        }
      }
      case LOOPS -> {
        if (attempt <= 2) {
          throw new IllegalStateException("the same as ever");
        }
      }
      case HOPELESS ->
          throw new StepException(FailureClass.DETERMINISTIC_CONTRACT, "this cannot work");
    }
  }
}
