package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithRelease;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Handlers that exhaust the heap of their worker process, beside harmless ones. */
@Durable
@OnlyWithRelease
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(WorldExtension.class)
class CrashAttributionTest {
  private static final int CONCURRENCY = 10;

  private static final String CRASHING = "hoard";

  /** Long enough that a crashing job beside it usually ends the process first. */
  private static final int MILLIS = 400;

  /** Long enough that a crashing job beside it always ends the process first. */
  private static final int LONG_MILLIS = 2_000;

  @Test
  void two_crashing_jobs_among_ten_are_toxic_and_the_others_succeed(World world) {
    // All ten are taken by the first claim, and again by the second.
    run(world, 1, jobs(2, 8, "patient", LONG_MILLIS));
    assertThat(world.count("SELECT min(crashes) FROM holdfast.job WHERE state = 'SUCCEEDED'"))
        .describedAs("crashes that each harmless job was beside")
        .isEqualTo(Job.DEFAULT_MAX_CRASHES);
  }

  @Test
  void ten_crashing_jobs_among_a_hundred_are_toxic_and_ninety_succeed(World world) {
    run(world, 2, jobs(10, 90, "work", MILLIS).stream().map(job -> job.maxCrashes(1)).toList());
    assertThat(
            world.count(
                "SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED' AND crashes > 0"))
        .describedAs("harmless jobs that ran beside a crashing one")
        .isPositive();
  }

  /** In an order that is the same each time; it is that of their ids, and so of their claims. */
  private static List<Job> jobs(int culprits, int harmless, String kind, int millis) {
    List<String> kinds = new ArrayList<>(Collections.nCopies(culprits, CRASHING));
    kinds.addAll(Collections.nCopies(harmless, kind));
    Collections.shuffle(kinds, new Random(7));
    return kinds.stream().map(each -> Job.of(each, new ScenarioKinds.Work(millis))).toList();
  }

  private static void run(World world, int processes, List<Job> jobs) {
    long culprits = jobs.stream().filter(job -> job.kind().equals(CRASHING)).count();
    world.holdfast().enqueue(jobs);
    SuperviseTest.supervise(world, processes, CONCURRENCY)
        .env("HOLDFAST_SUPERVISOR_RESTART_LIMIT", "1000")
        .env("HOLDFAST_SUPERVISOR_RESTART_LIFETIME_LIMIT", "1000")
        .begin();
    Eventually.until(
        SOON.multipliedBy(2),
        "all have ended",
        () -> world.count("SELECT count(*) FROM holdfast.job WHERE finished_at IS NULL") == 0);
    assertThat(
            world.count(
                "SELECT count(*) FROM holdfast.job WHERE kind = ? AND state = 'FAILED'", CRASHING))
        .isEqualTo(culprits);
    assertThat(world.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'"))
        .isEqualTo(jobs.size() - culprits);
    assertThat(
            world
                .sql()
                .strings(
                    "SELECT DISTINCT failure->>'code' FROM holdfast.job WHERE state = 'FAILED'"))
        .containsExactly(Failure.TOXIC_JOB);
    assertThat(
            world
                .sql()
                .strings(
                    "SELECT DISTINCT exit_code FROM holdfast.health WHERE exit_code IS NOT NULL"))
        .describedAs("how processes ended")
        .containsExactly(Integer.toString(WorkerExit.OUT_OF_MEMORY));
  }
}
