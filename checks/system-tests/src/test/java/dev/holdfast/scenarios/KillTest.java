package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.model.job.EventType.REQUEUED_STALE;
import static dev.holdfast.testkit.Soon.SOON;
import static dev.holdfast.testkit.Soon.STANDSTILL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithAll;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class KillTest {
  // Every half heartbeat, give or take a quarter of it.
  private static final Duration SWEEP = Duration.ofMillis(500).multipliedBy(5).dividedBy(4);

  @Test
  void a_job_whose_worker_was_killed_is_requeued_within_lease_and_sweep_and_done_by_another(
      World world) {
    Path gate = world.gate("go");
    ChildProcess victim = world.worker().start();
    JobId job = world.enqueueHeld("hold", gate);
    victim.awaitLine("began " + job + "#1", SOON);
    ChildProcess other = world.worker().start();

    Instant claimed = Objects.requireNonNull(world.status(job).startedAt());
    Eventually.until(SOON, "a heartbeat", () -> heartbeat(world, job).isAfter(claimed));
    victim.signal("KILL");
    assertThat(victim.awaitExit(SOON)).isEqualTo(137);
    Instant lastHeartbeat = heartbeat(world, job);

    other.awaitLine("began " + job + "#2", SOON);
    world.open(gate);
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    Timeline timeline = world.timeline(job);
    assertThat(timeline.types())
        .containsExactly(CREATED, PROCESSING, REQUEUED_STALE, PROCESSING, DONE);
    Duration recovered = Duration.between(lastHeartbeat, timeline.at(REQUEUED_STALE));
    // Where the machine stood still, the reaper says so, and waits for another lease each time.
    long waits = other.lines().stream().filter(line -> line.contains("are not reaped for")).count();
    Duration latest = World.LEASE.multipliedBy(1 + waits).plus(SWEEP).plus(STANDSTILL);
    assertThat(recovered).isBetween(World.LEASE, latest);
    assertThat(done.attempt()).isEqualTo(2);
    assertThat(done.crashes()).isEqualTo(1);
    assertThat(done.failures()).isZero();
    assertThat(done.worker()).contains("." + other.pid() + ".");
  }

  private static Instant heartbeat(World world, JobId job) {
    return Objects.requireNonNull(world.status(job).heartbeatAt());
  }
}
