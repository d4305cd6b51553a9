package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Commands that a job's state rejects, and jobs that a worker cannot run. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class BadJobTest {
  @Test
  @OnlyWithRelease
  void a_job_without_handler_fails_at_once_and_its_worker_continues(World world) {
    world.worker().env("HOLDFAST_WORKER_UNKNOWN_KIND_TIMEOUT", "0s").start();
    JobStatus failed = world.await(world.enqueue("unheard-of", "{}"), JobState.FAILED);
    Failure failure = Objects.requireNonNull(failed.failure());
    assertThat(failure.code()).isEqualTo(Failure.NO_HANDLER);
    assertThat(failure.message()).contains("unheard-of");
    assertThat(failed.attempt()).isEqualTo(1);
    assertThat(failed.failures()).isZero();
    world.await(world.enqueue("clock", "{}"), JobState.SUCCEEDED);
  }

  @Test
  @OnlyWithRelease
  void a_payload_the_handler_cannot_read_fails_at_once(World world) {
    world.worker().start();
    JobStatus failed = world.await(world.enqueue("work", "no record"), JobState.FAILED);
    assertThat(Objects.requireNonNull(failed.failure()).code()).isEqualTo(Failure.VALIDATION);
    assertThat(failed.attempt()).isEqualTo(1);
  }

  @Test
  void a_finished_job_is_not_cancelled_and_a_running_one_not_retried(World world) {
    Path gate = world.gate("go");
    ChildProcess worker = world.worker().start();
    JobId running = world.enqueueHeld("hold", gate);
    worker.awaitLine("began " + running + "#1", SOON);
    Launch.Answer retried = world.launch("jobs", "retry", running.toString()).run();
    assertThat(retried.code()).isEqualTo(6);
    assertThat(retried.err())
        .singleElement()
        .asString()
        .contains(running + " is RUNNING: only FAILED and CANCELLED jobs can be retried");

    world.open(gate);
    JobStatus done = world.await(running, JobState.SUCCEEDED);
    Launch.Answer cancelled = world.launch("jobs", "cancel", running.toString()).run();
    assertThat(cancelled.code()).isEqualTo(6);
    assertThat(String.join("\n", cancelled.out()) + String.join("\n", cancelled.err()))
        .contains(running + "  refused: it has already ended, SUCCEEDED");
    assertThat(world.status(running)).isEqualTo(done);
  }

  @Test
  void a_job_cancelled_on_the_command_line_stops_within_a_second(World world) {
    ChildProcess worker = world.worker().start();
    JobId running = world.enqueueHeld("hold", world.gate("never"));
    worker.awaitLine("began " + running + "#1", SOON);
    Launch.Answer cancelled = world.launch("jobs", "cancel", running.toString()).run();
    assertThat(cancelled.code()).isZero();
    JobStatus end = world.await(running, JobState.CANCELLED);
    long millis =
        Duration.between(
                Objects.requireNonNull(end.cancelRequestedAt()),
                Objects.requireNonNull(end.finishedAt()))
            .toMillis();
    // A second, with tolerance for a busy machine.
    assertThat(millis).isLessThan(10_000);
    assertThat(worker.isAlive()).isTrue();
  }
}
