package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.Launch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Outages of the database and of the network to it. */
@OnlyWithAll
@Durable
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
  @OnlyWithRelease
  void an_outage_longer_than_the_lease_causes_no_mass_requeue() throws InterruptedException {
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
    List<ChildProcess> workers = withLeases(world.worker()).start(2);
    Path gate = world.gate("go");
    List<JobId> held = hold(world, gate, HELD);
    Eventually.until(SOON, "held jobs run", () -> begun(workers) == HELD);
    Producer producer = Producer.start(world, () -> Job.of("effect", new ScenarioKinds.Work(20)));
    for (Duration outage : outages) {
      flows(world);
      server.kill();
      Thread.sleep(outage);
      server.startAgain();
      Eventually.until(SOON, "the database answers", () -> effects(world) >= 0);
    }
    flows(world);
    List<JobId> jobs = producer.stop();
    world.open(gate);

    long all = (long) jobs.size() + HELD;
    world.awaitAll(all);
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
    Eventually.until(SOON, "jobs flow", () -> effects(world) > before + 20);
  }

  private static long effects(World world) {
    return world.count("SELECT count(*) FROM effect");
  }

  /** As the workers know them: the answer to a claim may still be on its way when a job runs. */
  private static long begun(List<ChildProcess> workers) {
    return workers.stream()
        .flatMap(worker -> worker.lines().stream())
        .filter(line -> line.startsWith("began "))
        .count();
  }

  private static long running(World world) {
    return world.count("SELECT count(*) FROM holdfast.job WHERE state = 'RUNNING'");
  }

  @Test
  @OnlyWithRelease
  void workers_disconnected_for_several_leases_continue_and_requeue_nothing(
      World world, TestDatabase database) {
    try (FaultProxy proxy = FaultProxy.before(database)) {
      List<ChildProcess> workers =
          withLeases(world.worker("--concurrency", "2"))
              .env("HOLDFAST_DATABASE_URL", proxy.url(database))
              .start(2);
      Path meanwhile = world.gate("meanwhile");
      Path afterwards = world.gate("afterwards");
      List<JobId> finishing = hold(world, meanwhile, 2);
      List<JobId> going = hold(world, afterwards, 2);
      Eventually.until(SOON, "all of them run", () -> begun(workers) == 4);

      proxy.cut();
      world.open(meanwhile);
      workers.forEach(worker -> worker.awaitLine("HEARTBEAT_DEGRADED", SOON.multipliedBy(2)));
      assertThat(running(world)).isEqualTo(4);
      proxy.mend();

      finishing.forEach(job -> world.await(job, JobState.SUCCEEDED));
      workers.forEach(worker -> worker.awaitLine("HEARTBEAT_RECOVERED", SOON));
      world.open(afterwards);
      going.forEach(job -> world.await(job, JobState.SUCCEEDED));
      for (JobId job : Stream.concat(finishing.stream(), going.stream()).toList()) {
        assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, DONE);
      }
      world.await(world.enqueue("clock", "{}"), JobState.SUCCEEDED);
      assertThat(workers).allMatch(ChildProcess::isAlive);
    }
  }

  private static Launch withLeases(Launch worker) {
    return worker
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", Long.toString(LEASE.toSeconds()));
  }

  private static List<JobId> hold(World world, Path gate, int jobs) {
    return Stream.generate(() -> world.enqueueHeld("hold", gate)).limit(jobs).toList();
  }
}
