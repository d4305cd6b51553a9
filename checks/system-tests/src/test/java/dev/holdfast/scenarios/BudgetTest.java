package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.FAILED;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.model.job.EventType.REQUEUED_STALE;
import static dev.holdfast.model.job.EventType.RETRY_SCHEDULED;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
@OnlyWithRelease
class BudgetTest {
  @Test
  void a_job_that_fails_every_time_ends_with_retries_exhausted_and_the_cause_kept(World world) {
    world.worker().start();
    JobId job = world.enqueue("always-fails", "{}");
    JobStatus failed = world.await(job, JobState.FAILED);
    Failure failure = Objects.requireNonNull(failed.failure());
    assertThat(failure.code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure.message()).contains("BROKEN", "it never works");
    assertThat(failed.attempt()).isEqualTo(3);
    assertThat(failed.failures()).isEqualTo(3);
    assertThat(failed.crashes()).isZero();
    assertThat(world.timeline(job).types())
        .containsExactly(
            CREATED, PROCESSING, RETRY_SCHEDULED, PROCESSING, RETRY_SCHEDULED, PROCESSING, FAILED);
  }

  @Test
  void a_job_that_kills_its_worker_three_times_is_toxic_and_other_jobs_go_on(World world) {
    // Short leases: each is lost for good, so it does no harm to find that too early.
    ChildProcess bystander = shortly(world, "--queue", "calm").start();
    JobId toxic = world.enqueue("halt", "{}");
    for (int attempt = 1; attempt <= 3; attempt++) {
      ChildProcess victim = shortly(world, "--concurrency", "1").begin();
      victim.awaitLine("began " + toxic + "#" + attempt, SOON);
      assertThat(victim.awaitExit(SOON)).isEqualTo(137);
    }
    JobStatus failed = world.await(toxic, JobState.FAILED);
    Failure failure = Objects.requireNonNull(failed.failure());
    assertThat(failure.code()).isEqualTo(Failure.TOXIC_JOB);
    assertThat(failure.retryable()).isFalse();
    assertThat(failed.attempt()).isEqualTo(3);
    assertThat(failed.crashes()).isEqualTo(3);
    assertThat(failed.failures()).isZero();
    List<Attempt> attempts = world.holdfast().queries().attempts(toxic);
    assertThat(attempts)
        .hasSize(3)
        .allMatch(attempt -> attempt.outcome() == AttemptOutcome.CRASHED)
        .allMatch(
            a -> Objects.requireNonNull(a.failure()).code().equals(Failure.HEARTBEAT_TIMEOUT));
    assertThat(world.timeline(toxic).types())
        .containsExactly(
            CREATED, PROCESSING, REQUEUED_STALE, PROCESSING, REQUEUED_STALE, PROCESSING, FAILED);

    JobId calm = world.holdfast().enqueue(Job.of("clock").queue("calm")).id();
    world.await(calm, JobState.SUCCEEDED);
    assertThat(bystander.isAlive()).isTrue();
    world.worker().start();
    world.await(world.enqueue("clock", "{}"), JobState.SUCCEEDED);
    assertThat(world.status(toxic).attempt()).isEqualTo(3);
  }

  private static Launch shortly(World world, String... arguments) {
    return world.worker(arguments).env("LEASE_TIMEOUT_SEC", "2");
  }
}
