package dev.holdfast.scenarios;

import static dev.holdfast.model.EventType.CREATED;
import static dev.holdfast.model.EventType.DONE;
import static dev.holdfast.model.EventType.PROCESSING;
import static dev.holdfast.scenarios.World.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.Job;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The database goes away and comes back. */
@Durable
@Timeout(120)
@ExtendWith(WorldExtension.class)
class OutageTest {
  private static final int HELD = 4;
  // More than the five seconds a connection pool may wait before it looks for the server again.
  private static final Duration LEASE = Duration.ofSeconds(8);

  @Test
  void a_database_killed_under_load_and_started_again_loses_nothing_and_requeues_nothing()
      throws InterruptedException {
    try (OwnServer server = OwnServer.start();
        World world = server.world()) {
      outages(server, world, Duration.ZERO, Duration.ZERO);
    }
  }

  @Test
  void not_even_an_outage_longer_than_the_lease_makes_a_mass_requeue() throws InterruptedException {
    try (OwnServer server = OwnServer.start();
        World world = server.world()) {
      outages(server, world, LEASE.plusMillis(500));
    }
  }

  private static void outages(OwnServer server, World world, Duration... outages)
      throws InterruptedException {
    try {
      survive(server, world, outages);
    } catch (AssertionError | RuntimeException e) {
      world.printOutput();
      throw e;
    }
  }

  private static void survive(OwnServer server, World world, Duration... outages)
      throws InterruptedException {
    List<ChildProcess> workers =
        world
            .worker()
            .env("HEARTBEAT_INTERVAL_SEC", "1")
            .env("LEASE_TIMEOUT_SEC", Long.toString(LEASE.toSeconds()))
            .start(2);
    Path gate = world.gate("go");
    List<JobId> held = new ArrayList<>();
    for (int i = 0; i < HELD; i++) {
      held.add(world.enqueueHeld("hold", gate));
    }
    World.until(SOON, "held jobs run", () -> running(world) == HELD);
    Producer producer = Producer.start(world, () -> Job.of("effect", new ScenarioKinds.Work(20)));
    for (Duration outage : outages) {
      flows(world);
      server.kill();
      Thread.sleep(outage);
      server.startAgain();
      World.until(SOON, "the database answers", () -> effects(world) >= 0);
    }
    flows(world);
    List<JobId> jobs = producer.stop();
    world.open(gate);

    long all = (long) jobs.size() + HELD;
    World.until(SOON, "all jobs are done", () -> succeeded(world) == all);
    assertThat(world.count("SELECT count(*) FROM holdfast.job")).isEqualTo(all);
    assertThat(effects(world)).isEqualTo(jobs.size());
    assertThat(world.count("SELECT count(DISTINCT job) FROM effect")).isEqualTo(jobs.size());
    assertThat(world.count("SELECT count(*) FROM holdfast.event WHERE type = 'requeued:stale'"))
        .isZero();
    for (JobId job : held) {
      assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, DONE);
    }
    assertThat(workers).allMatch(ChildProcess::isAlive);
  }

  private static void flows(World world) {
    long before = effects(world);
    World.until(SOON, "jobs flow", () -> effects(world) > before + 20);
  }

  private static long effects(World world) {
    return world.count("SELECT count(*) FROM effect");
  }

  private static long running(World world) {
    return world.count("SELECT count(*) FROM holdfast.job WHERE state = 'RUNNING'");
  }

  private static long succeeded(World world) {
    return world.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
  }

  @Test
  void a_worker_outlives_a_database_that_is_away_for_several_leases(
      World world, TestDatabase database) throws InterruptedException {
    try (FaultProxy proxy = FaultProxy.before(database)) {
      Path duringOutage = world.gate("during the outage");
      Path afterwards = world.gate("afterwards");
      ChildProcess worker =
          world.worker().env("HOLDFAST_DATABASE_URL", proxy.url(database)).start();
      JobId finishesMeanwhile = world.enqueueHeld("hold", duringOutage);
      JobId goesOn = world.enqueueHeld("hold", afterwards);
      worker.awaitLine("began " + finishesMeanwhile + "#1", SOON);
      worker.awaitLine("began " + goesOn + "#1", SOON);

      proxy.cut();
      world.open(duringOutage);
      worker.awaitLine("HEARTBEAT_DEGRADED", SOON);
      assertThat(world.status(finishesMeanwhile).state()).isEqualTo(JobState.RUNNING);
      proxy.mend();

      world.await(finishesMeanwhile, JobState.SUCCEEDED);
      worker.awaitLine("HEARTBEAT_RECOVERED", SOON);
      world.open(afterwards);
      world.await(goesOn, JobState.SUCCEEDED);
      for (JobId job : List.of(finishesMeanwhile, goesOn)) {
        assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, DONE);
      }
      world.await(world.enqueue("clock", "{}"), JobState.SUCCEEDED);
      assertThat(worker.isAlive()).isTrue();
    }
  }
}
