package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Extent;
import dev.holdfast.testkit.Living;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * {@code holdfast supervise}: kills of its worker processes and of itself, and outages of the
 * database.
 */
@OnlyWithAll
@Durable
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith(WorldExtension.class)
class SuperviseTest {
  private static final String NAME = "here";
  private static final String DEFAULT = "worker:default:0";
  private static final int KILLS = Extent.of(6, 50);
  private static final int BATCH = 400;

  static Launch supervise(World world, int processes, int concurrency) {
    return world
        .launch("supervise", "--concurrency", Integer.toString(concurrency))
        .env("HOLDFAST_SUPERVISOR_NAME", NAME)
        .env("HOLDFAST_WORKER_PROCESSES", Integer.toString(processes))
        .env("HOLDFAST_SUPERVISOR_RESTART_DELAY", "10ms")
        .env("HOLDFAST_SUPERVISOR_RESTART_MAX_DELAY", "50ms")
        .env("HOLDFAST_SUPERVISOR_STOP_TIMEOUT", "2s")
        // Leases are long, so that only a requeue by the supervisor comes in time.
        .env("HEARTBEAT_INTERVAL_SEC", "60")
        .env("LEASE_TIMEOUT_SEC", "300");
  }

  private static WorkerRegistry health(World world) {
    return world.holdfast().store().workers();
  }

  private static WorkerHealth until(World world, Predicate<WorkerHealth> condition) {
    Eventually.until(
        SOON, "the worker is as wanted", () -> first(world).filter(condition).isPresent());
    return first(world).orElseThrow();
  }

  private static Optional<WorkerHealth> first(World world) {
    return health(world).readings().of(NAME).stream()
        .filter(row -> row.component().equals(DEFAULT))
        .findFirst();
  }

  private static WorkerHealth untilHealthy(World world, int incarnation) {
    return until(
        world, row -> row.status() == HealthStatus.HEALTHY && row.incarnation() == incarnation);
  }

  private static long pid(WorkerHealth row) {
    return Objects.requireNonNull(row.pid());
  }

  private static void signal(String signal, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/kill", "-" + signal, Long.toString(pid)).start().waitFor();
  }

  @Test
  void kills_of_busy_and_of_starting_workers_lose_no_job_and_settle_none_twice(World world)
      throws Exception {
    // Enqueued before anything runs, so that the first kill meets work however slow the start is.
    long jobs = enqueueEffects(world);
    try (StatsdReceiver statsd = new StatsdReceiver("worker.recovered_jobs_total")) {
      ChildProcess supervisor =
          supervise(world, 2, 8)
              .env("HOLDFAST_METRICS_STATSD", statsd.target())
              .env("HOLDFAST_SUPERVISOR_RESTART_LIMIT", "1000")
              .env("HOLDFAST_SUPERVISOR_RESTART_LIFETIME_LIMIT", "1000")
              // Else the restarts of a worker that was healthy for long are counted from 0 again.
              .env("HOLDFAST_SUPERVISOR_RESTART_RESET", "1d")
              .start();
      Set<Long> killed = new HashSet<>();
      for (int i = 0; i < KILLS; i++) {
        if (world.count("SELECT count(*) FROM holdfast.job WHERE state = 'PENDING'") < BATCH / 2) {
          jobs += enqueueEffects(world);
        }
        // A row is of a process that was killed until its supervisor has noticed.
        long victim = i % 3 == 2 ? startingWorker(world, killed) : workingWorker(world, killed);
        signal("KILL", victim);
        killed.add(victim);
      }
      world.awaitAll(jobs);
      assertThat(world.count("SELECT count(*) FROM effect")).isEqualTo(jobs);
      assertThat(world.count("SELECT count(DISTINCT job) FROM effect")).isEqualTo(jobs);
      assertThat(world.count("SELECT sum(crashes) FROM holdfast.job"))
          .describedAs("attempts cut off by a kill")
          .isPositive();
      Eventually.until(
          SOON,
          "every kill was followed by a restart",
          () ->
              health(world).readings().of(NAME).stream().mapToInt(WorkerHealth::restarts).sum()
                  >= KILLS);
      Eventually.until(
          SOON, "the supervisor sends what it requeued", () -> statsd.hears("reason:crashed"));
      supervisor.signal("TERM");
      assertThat(supervisor.awaitExit(SOON)).isZero();
      assertThat(health(world).readings().of(NAME)).isEmpty();
    }
  }

  private static long enqueueEffects(World world) {
    world
        .holdfast()
        .enqueue(
            Stream.generate(() -> Job.of("effect", new ScenarioKinds.Work(150)).maxCrashes(100))
                .limit(BATCH)
                .toList());
    return BATCH;
  }

  /** The process of a worker that holds a job. */
  private static long workingWorker(World world, Set<Long> killed) {
    List<Long> found = new ArrayList<>();
    Eventually.until(
        SOON,
        "a worker is at work",
        () -> {
          List<String> holders =
              world
                  .sql()
                  .strings("SELECT DISTINCT worker_id FROM holdfast.job WHERE state = 'RUNNING'");
          health(world).readings().of(NAME).stream()
              .filter(row -> row.status() == HealthStatus.HEALTHY && !killed.contains(pid(row)))
              .filter(row -> holders.stream().anyMatch(it -> it.contains("." + row.pid() + ".")))
              .forEach(row -> found.add(pid(row)));
          return !found.isEmpty();
        });
    return found.getFirst();
  }

  /** The process of a worker that is not healthy yet. */
  private static long startingWorker(World world, Set<Long> killed) {
    List<Long> found = new ArrayList<>();
    Eventually.until(
        SOON,
        "a worker is starting",
        () -> {
          List<WorkerHealth> rows = health(world).readings().of(NAME);
          rows.stream()
              .filter(row -> row.status() == HealthStatus.STARTING && row.pid() != null)
              .filter(row -> !killed.contains(pid(row)))
              .forEach(row -> found.add(pid(row)));
          if (rows.stream()
              .allMatch(
                  row -> row.status() == HealthStatus.HEALTHY && !killed.contains(pid(row)))) {
            // The last one killed became healthy before its start was observed.
            signal("KILL", pid(rows.getFirst()));
            killed.add(pid(rows.getFirst()));
          }
          return !found.isEmpty();
        });
    return found.getFirst();
  }

  @Test
  @OnlyWithRelease
  void a_toxic_job_fails_at_its_third_crash_and_the_others_succeed(World world) {
    JobId toxic = world.enqueue("halt", "{}");
    for (int i = 0; i < 40; i++) {
      world.enqueue("work", new ScenarioKinds.Work(5));
    }
    supervise(world, 1, 4).begin();
    world.awaitAll(40);
    world.await(toxic, JobState.FAILED);
    JobStatus failed = world.status(toxic);
    assertThat(Objects.requireNonNull(failed.failure()).code()).isEqualTo("TOXIC_JOB");
    assertThat(failed.crashes()).isEqualTo(3);
    WorkerHealth row = untilHealthy(world, 4);
    assertThat(row.restarts()).isEqualTo(3);
    assertThat(row.exitCode()).isEqualTo(137);
  }

  @Test
  @OnlyWithRelease
  void a_job_that_exhausts_the_heap_ends_its_process_and_is_reported_as_out_of_memory(World world) {
    supervise(world, 1, 4).start();
    JobId greedy = world.holdfast().enqueue(Job.of("hoard").maxCrashes(0)).id();
    world.await(greedy, JobState.FAILED);
    Failure failure = Objects.requireNonNull(world.status(greedy).failure());
    assertThat(failure.code()).isEqualTo("TOXIC_JOB");
    assertThat(untilHealthy(world, 2).exitCode()).isEqualTo(WorkerExit.OUT_OF_MEMORY);
    assertThat(world.launch("health").run().out())
        .anyMatch(line -> line.contains(DEFAULT) && line.contains("out of memory"));
  }

  @Test
  void when_the_supervisor_is_killed_its_workers_release_their_jobs_and_exit(World world)
      throws Exception {
    ChildProcess supervisor =
        supervise(world, 2, 4).env("HOLDFAST_SUPERVISOR_STOP_TIMEOUT", "30s").start();
    Path gate = world.gate("go");
    JobId job = world.enqueueHeld("hold", gate);
    supervisor.awaitLine("began " + job + "#1", SOON);
    List<Long> workers =
        health(world).readings().of(NAME).stream().map(SuperviseTest::pid).toList();
    supervisor.signal("KILL");
    supervisor.awaitExit(SOON);
    Eventually.until(SOON, "no worker is left", () -> workers.stream().noneMatch(Living::is));
    assertThat(world.status(job).state()).isEqualTo(JobState.PENDING);
    assertThat(world.timeline(job).types()).endsWith(EventType.ABORTED_SHUTDOWN);

    ChildProcess next = supervise(world, 2, 4).start();
    world.open(gate);
    assertThat(world.await(job, JobState.SUCCEEDED).crashes()).isZero();
    next.signal("TERM");
    assertThat(next.awaitExit(SOON)).isZero();
  }

  @Test
  @OnlyWithRelease
  void a_frozen_worker_of_a_killed_supervisor_is_killed_by_the_next_one(World world)
      throws Exception {
    ChildProcess supervisor = supervise(world, 1, 4).start();
    Path gate = world.gate("go");
    JobId job = world.enqueueHeld("hold", gate);
    supervisor.awaitLine("began " + job + "#1", SOON);
    WorkerHealth frozen = untilHealthy(world, 1);
    signal("STOP", pid(frozen));
    supervisor.signal("KILL");
    supervisor.awaitExit(SOON);
    assertThat(Living.is(pid(frozen))).isTrue();

    supervise(world, 1, 4).start();
    assertThat(Living.is(pid(frozen))).isFalse();
    world.open(gate);
    assertThat(world.await(job, JobState.SUCCEEDED).crashes()).isEqualTo(1);
  }

  @Test
  @OnlyWithRelease
  void a_stop_under_load_loses_no_job_and_repeats_none(World world) {
    Producer producer = Producer.start(world, () -> Job.of("work", new ScenarioKinds.Work(30)));
    for (int i = 0; i < 2; i++) {
      ChildProcess supervisor =
          supervise(world, 2, 4).env("HOLDFAST_SUPERVISOR_STOP_TIMEOUT", "30s").start();
      long ran = world.count("SELECT count(*) FROM ran");
      Eventually.until(SOON, "jobs flow", () -> world.count("SELECT count(*) FROM ran") > ran + 20);
      supervisor.signal("TERM");
      assertThat(supervisor.awaitExit(SOON)).isZero();
    }
    long jobs = producer.stop().size();
    supervise(world, 1, 16).start();
    world.awaitAll(jobs);
    assertThat(world.count("SELECT count(*) FROM ran")).isEqualTo(jobs);
    assertThat(world.count("SELECT sum(failures + crashes) FROM holdfast.job")).isZero();
  }

  @Test
  @OnlyWithRelease
  void an_outage_of_the_database_ends_no_worker() throws Exception {
    try (OwnServer server = OwnServer.start();
        World world = server.world()) {
      ChildProcess supervisor =
          supervise(world, 1, 4)
              .env("HOLDFAST_SUPERVISOR_HEALTH_INTERVAL", "200ms")
              .env("HOLDFAST_SUPERVISOR_HEALTH_TIMEOUT", "10s")
              .start();
      WorkerHealth before = untilHealthy(world, 1);
      assertThat(before.silentAfter()).isEqualTo(Duration.ofSeconds(10));
      server.kill();
      supervisor.awaitLine("the database does not answer", SOON);
      // Longer than silence may last.
      Thread.sleep(12_000);
      server.startAgain();
      supervisor.awaitLine("the database answers again", SOON);
      world.await(world.enqueue("work", new ScenarioKinds.Work(1)), JobState.SUCCEEDED);
      assertThat(pid(untilHealthy(world, 1))).isEqualTo(pid(before));
      assertThat(first(world).orElseThrow().restarts()).isZero();
    }
  }

  @Test
  @OnlyWithRelease
  void a_pause_lets_running_jobs_finish_and_keeps_new_ones_waiting(World world) {
    ChildProcess supervisor = supervise(world, 1, 4).start();
    Path gate = world.gate("go");
    JobId running = world.enqueueHeld("hold", gate);
    supervisor.awaitLine("began " + running + "#1", SOON);

    assertThat(world.launch("workers", "pause", "--all").run().code()).isZero();
    JobId waiting = world.enqueue("work", new ScenarioKinds.Work(1));
    world.open(gate);
    world.await(running, JobState.SUCCEEDED);
    assertThat(world.status(waiting).state()).isEqualTo(JobState.PENDING);
    assertThat(until(world, row -> row.currentJob() == null).status())
        .isEqualTo(HealthStatus.HEALTHY);
    Instant resumed = world.holdfast().queries().now();
    assertThat(world.launch("workers", "resume", "--all").run().code()).isZero();
    JobStatus done = world.await(waiting, JobState.SUCCEEDED);
    assertThat(done.startedAt()).isAfter(resumed);
    // And the same for this worker alone.
    assertThat(world.launch("workers", "pause", DEFAULT, "--reason", "to see").run().code())
        .isZero();
    until(world, WorkerHealth::pausedByOperator);
    JobId kept = world.enqueue("work", new ScenarioKinds.Work(1));
    assertThat(world.launch("workers", "restart", DEFAULT).run().code()).isZero();
    until(world, row -> row.incarnation() == 2 && row.status() == HealthStatus.HEALTHY);
    assertThat(world.status(kept).state()).isEqualTo(JobState.PENDING);
    assertThat(world.launch("workers", "resume", DEFAULT).run().code()).isZero();
    world.await(kept, JobState.SUCCEEDED);
  }

  @Test
  @OnlyWithRelease
  void the_output_of_a_worker_can_be_followed(World world) {
    supervise(world, 1, 4).start();
    ChildProcess follower = world.launch("logs", DEFAULT, "--follow").begin();
    follower.awaitLine("ready: " + DEFAULT, SOON);
    Path gate = world.gate("go");
    JobId job = world.enqueueHeld("hold", gate);
    follower.awaitLine("^began " + job + "#1", SOON);
    // The page reads the same from the database.
    WorkerLogs.Name worker = new WorkerLogs.Name(first(world).orElseThrow().supervisor(), DEFAULT);
    Eventually.until(
        () ->
            health(world).logs().read(worker, LogCursor.START).toString().contains("began " + job));
    world.open(gate);
    follower.signal("TERM");
    assertThat(follower.awaitExit(SOON)).isZero();
    Launch.Answer unknown = world.launch("logs", "worker:none:0").run();
    assertThat(unknown.code()).isEqualTo(5);
    assertThat(unknown.err()).singleElement().asString().contains("worker:none:0", DEFAULT);
  }

  @Test
  @OnlyWithRelease
  void a_second_supervisor_of_a_name_is_rejected_and_one_of_another_shares_the_work(World world) {
    supervise(world, 1, 2).start();
    Launch.Answer second = supervise(world, 1, 2).run();
    assertThat(second.code()).isEqualTo(6);
    assertThat(second.err()).singleElement().asString().contains("HOLDFAST_SUPERVISOR_NAME");
    ChildProcess other = supervise(world, 1, 2).env("HOLDFAST_SUPERVISOR_NAME", "there").start();
    assertThat(health(world).readings().all()).hasSize(2);
    other.signal("TERM");
    assertThat(other.awaitExit(SOON)).isZero();
    assertThat(health(world).readings().all())
        .singleElement()
        .satisfies(row -> assertThat(row.status()).isEqualTo(HealthStatus.HEALTHY));
  }

  @Test
  @OnlyWithRelease
  void a_supervisor_whose_workers_cannot_start_reports_it_and_stops_restarting_them(World world) {
    ChildProcess supervisor =
        supervise(world, 1, 2)
            .env("HOLDFAST_WORKER_JAVA_OPTIONS", "-XX:NoSuchOption=1")
            .env("HOLDFAST_SUPERVISOR_RESTART_LIMIT", "2")
            .env("HOLDFAST_SUPERVISOR_BOOT_TIMEOUT", "5s")
            .begin();
    WorkerHealth failed = until(world, row -> row.status() == HealthStatus.FAILED);
    assertThat(failed.restarts()).isEqualTo(2);
    supervisor.awaitLine("NoSuchOption", SOON);
    supervisor.awaitLine("holdfast workers resume " + DEFAULT, SOON);
    Launch.Answer health = world.launch("health").run();
    assertThat(health.code()).isEqualTo(11);
    assertThat(String.join("\n", health.out())).contains(DEFAULT, "failed");
    supervisor.signal("TERM");
    assertThat(supervisor.awaitExit(SOON)).isZero();
  }
}
