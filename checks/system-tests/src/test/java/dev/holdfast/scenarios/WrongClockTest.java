package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.testkit.Soon.SOON;
import static dev.holdfast.testkit.Soon.STANDSTILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithRelease;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A worker whose clock is an hour off, beside one with the right time. */
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
@OnlyWithRelease
class WrongClockTest {
  @ParameterizedTest
  @CsvSource({"+1h, 3600", "-1h, -3600"})
  void all_times_are_those_of_the_database_clock(String by, int seconds, World world) {
    ChildProcess wrong = WrongClock.off(world.worker("--queue", "wrong"), by).begin();
    ChildProcess right = world.worker("--queue", "right").begin();
    wrong.awaitLine("^ready", SOON);
    right.awaitLine("^ready", SOON);
    Path gate = world.gate("go");
    JobId heldByWrong = enqueue(world, Job.of("hold", held(gate)));
    JobId heldByRight = enqueue(world, Job.of("hold", held(gate)).queue("right"));
    wrong.awaitLine("began " + heldByWrong + "#1", SOON);
    right.awaitLine("began " + heldByRight + "#1", SOON);

    theProcessReallyHasAWrongClock(world, seconds);
    delaysAreKept(world);
    retriesAreKept(world);
    deadlinesAreKept(world, wrong);

    // No healthy job was reaped, though both sweep and each could reap jobs of the other.
    Instant begun = Objects.requireNonNull(world.status(heldByWrong).startedAt());
    Eventually.until(
        SOON,
        "a heartbeat more than a lease later",
        () ->
            Objects.requireNonNull(world.status(heldByWrong).heartbeatAt())
                .isAfter(begun.plus(World.LEASE)));
    world.open(gate);
    for (JobId job : List.of(heldByWrong, heldByRight)) {
      world.await(job, JobState.SUCCEEDED);
      assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, DONE);
    }
  }

  private static void theProcessReallyHasAWrongClock(World world, int seconds) {
    JobStatus clock = world.await(enqueue(world, Job.of("clock")), JobState.SUCCEEDED);
    long there = Long.parseLong(Objects.requireNonNull(clock.result()).text());
    assertThat(there - System.currentTimeMillis())
        .isCloseTo(seconds * 1000L, within(STANDSTILL.toMillis()));
    Instant finished = Objects.requireNonNull(clock.finishedAt());
    assertThat(Duration.between(clock.createdAt(), finished)).isBetween(Duration.ZERO, STANDSTILL);
  }

  private static void delaysAreKept(World world) {
    Duration delay = Duration.ofSeconds(1);
    JobId delayed = enqueue(world, Job.of("clock").delay(delay));
    world.await(delayed, JobState.SUCCEEDED);
    Timeline timeline = world.timeline(delayed);
    assertThat(Duration.between(timeline.at(CREATED), timeline.at(PROCESSING)))
        .isBetween(delay, delay.plus(STANDSTILL));
  }

  private static void retriesAreKept(World world) {
    JobId failing = enqueue(world, Job.of("always-fails"));
    JobStatus failed = world.await(failing, JobState.FAILED);
    assertThat(Objects.requireNonNull(failed.failure()).code())
        .isEqualTo(Failure.RETRIES_EXHAUSTED);
    Timeline timeline = world.timeline(failing);
    assertThat(Duration.between(timeline.at(PROCESSING, 1), timeline.at(PROCESSING, 3)))
        .isBetween(Duration.ZERO, STANDSTILL);
  }

  private static void deadlinesAreKept(World world, ChildProcess wrong) {
    Instant deadline = Instant.now().plus(World.LEASE);
    JobId late = enqueue(world, Job.of("hold", held(world.gate("never"))).deadline(deadline));
    wrong.awaitLine("began " + late + "#1", SOON);
    JobStatus failed = world.await(late, JobState.FAILED);
    assertThat(Objects.requireNonNull(failed.failure()).code())
        .isEqualTo(Failure.DEADLINE_EXCEEDED);
    assertThat(Duration.between(deadline, world.timeline(late).at(EventType.FAILED)))
        .isBetween(Duration.ofMillis(-50), STANDSTILL);
  }

  private static ScenarioKinds.Hold held(Path gate) {
    return new ScenarioKinds.Hold(gate.toString());
  }

  private static JobId enqueue(World world, Job job) {
    return world
        .holdfast()
        .enqueue(job.queue().equals(Job.DEFAULT_QUEUE) ? job.queue("wrong") : job)
        .id();
  }
}
