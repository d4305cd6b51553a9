package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.model.job.EventType.REQUEUED_STALE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A process that is suspended for longer than its leases, and then continues. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class FreezeTest {
  @Test
  void the_late_result_of_a_frozen_worker_is_rejected_and_the_worker_continues(World world) {
    Path gate = world.gate("go");
    ChildProcess frozen = world.worker().start();
    JobId job = world.enqueueHeld("stubborn-hold", gate);
    frozen.awaitLine("began " + job + "#1", SOON);
    ChildProcess other = world.worker().start();

    frozen.signal("STOP");
    other.awaitLine("began " + job + "#2", SOON);
    world.open(gate);
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    frozen.signal("CONT");

    frozen.awaitLine("late result of stubborn-hold " + job + "#1 refused", SOON);
    assertThat(world.status(job)).isEqualTo(done);
    assertThat(done.worker()).contains("." + other.pid() + ".");
    assertThat(String.valueOf(done.result())).contains("\"pid\": " + other.pid());
    assertThat(world.timeline(job).types())
        .containsExactly(CREATED, PROCESSING, REQUEUED_STALE, PROCESSING, DONE);

    other.signal("TERM");
    assertThat(other.awaitExit(SOON)).isZero();
    JobId next = world.enqueue("clock", "{}");
    assertThat(world.await(next, JobState.SUCCEEDED).worker()).contains("." + frozen.pid() + ".");
  }

  @Test
  @OnlyWithRelease
  void a_frozen_worker_cannot_commit_its_effect_after_another_has(World world) {
    Path gate = world.gate("go");
    ChildProcess frozen = world.worker().start();
    JobId job = world.enqueueHeld("hold-effect", gate);
    frozen.awaitLine("began " + job + "#1", SOON);
    ChildProcess other = world.worker().start();

    frozen.signal("STOP");
    other.awaitLine("began " + job + "#2", SOON);
    world.open(gate);
    world.await(job, JobState.SUCCEEDED);
    frozen.signal("CONT");

    frozen.awaitLine("late result of hold-effect " + job + "#1 refused", SOON);
    assertThat(world.count("SELECT count(*) FROM effect")).isEqualTo(1);
    assertThat(world.count("SELECT attempt FROM effect")).isEqualTo(2);
    assertThat(world.timeline(job).types())
        .containsExactly(CREATED, PROCESSING, REQUEUED_STALE, PROCESSING, DONE);
  }
}
