package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.ABORTED_SHUTDOWN;
import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.testkit.Soon.SOON;
import static dev.holdfast.testkit.Soon.STANDSTILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.program.Launch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class RedeployTest {
  private static final int REDEPLOYS = 3;
  private static final String LONG_LEASE = "30";

  @Test
  @OnlyWithRelease
  void redeploys_under_load_lose_no_job_and_repeat_none(World world) {
    // Long leases: a machine that stands still for a second must not look like a dead worker.
    ChildProcess current = withLongLeases(world).start();
    Producer producer = Producer.start(world, () -> Job.of("work", new ScenarioKinds.Work(30)));
    for (int i = 0; i < REDEPLOYS; i++) {
      ChildProcess next = withLongLeases(world).start();
      long ran = ran(world);
      Eventually.until(SOON, "jobs flow", () -> ran(world) > ran + 20);
      current.signal("TERM");
      assertThat(current.awaitExit(SOON)).isZero();
      current = next;
    }
    long jobs = producer.stop().size();

    world.awaitAll(jobs);
    assertThat(ran(world)).isEqualTo(jobs);
    assertThat(world.count("SELECT count(DISTINCT job) FROM ran")).isEqualTo(jobs);
    assertThat(world.count("SELECT count(*) FROM holdfast.job")).isEqualTo(jobs);
    // A worker may be claiming when it is stopped; it then releases what it claimed.
    assertThat(
            world
                .sql()
                .strings("SELECT failure::text FROM holdfast.attempt WHERE outcome = 'FAILED'"))
        .isEmpty();
    assertThat(world.sql().strings("SELECT type FROM holdfast.event")).isSubsetOf("released");
    assertThat(world.count("SELECT sum(failures + crashes) FROM holdfast.job")).isZero();
  }

  private static long ran(World world) {
    return world.count("SELECT count(*) FROM ran");
  }

  @Test
  void a_job_that_outlasts_the_shutdown_is_released_at_once_with_its_budgets_untouched(
      World world) {
    Path gate = world.gate("go");
    ChildProcess old = withLongLeases(world).env("SHUTDOWN_TIMEOUT_SEC", "0.5").start();
    JobId job = world.enqueueHeld("hold", gate);
    old.awaitLine("began " + job + "#1", SOON);
    ChildProcess next = withLongLeases(world).start();

    old.signal("TERM");
    assertThat(old.awaitExit(SOON)).isZero();
    next.awaitLine("began " + job + "#2", SOON);
    world.open(gate);
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    Timeline timeline = world.timeline(job);
    assertThat(timeline.types())
        .containsExactly(CREATED, PROCESSING, ABORTED_SHUTDOWN, PROCESSING, DONE);
    assertThat(Duration.between(timeline.at(ABORTED_SHUTDOWN), timeline.at(PROCESSING, 2)))
        .isLessThan(STANDSTILL);
    assertThat(done.failures()).isZero();
    assertThat(done.crashes()).isZero();
    assertThat(done.worker()).contains("." + next.pid() + ".");
  }

  @Test
  @OnlyWithRelease
  void the_job_of_a_handler_that_ignores_the_shutdown_is_released(World world) {
    Path gate = world.gate("go");
    ChildProcess old = withLongLeases(world).env("SHUTDOWN_TIMEOUT_SEC", "0.5").start();
    JobId job = world.enqueueHeld("stubborn-hold", gate);
    old.awaitLine("began " + job + "#1", SOON);
    old.signal("TERM");
    assertThat(old.awaitExit(SOON)).isZero();
    assertThat(world.status(job).state()).isEqualTo(JobState.PENDING);
    assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, ABORTED_SHUTDOWN);
  }

  @ParameterizedTest
  @OnlyWithRelease
  @CsvSource({"TERM, TERM, 143", "TERM, INT, 130"})
  void a_second_signal_ends_the_worker_at_once_and_its_job_is_recovered(
      String first, String second, int code, World world) throws Exception {
    // What a shell runs in the background ignores Ctrl-C from birth, and so do its children.
    assumeThat(second.equals("INT") && ignoresInterrupts()).isFalse();
    Path gate = world.gate("go");
    ChildProcess impatient = world.worker().env("SHUTDOWN_TIMEOUT_SEC", "600").start();
    JobId job = world.enqueueHeld("hold", gate);
    impatient.awaitLine("began " + job + "#1", SOON);
    impatient.signal(first);
    impatient.awaitLine("stops; 1 job running", SOON);
    // One Ctrl-C may arrive twice at once; a person is slower than that.
    Thread.sleep(Duration.ofMillis(100));
    impatient.signal(second);
    assertThat(impatient.awaitExit(SOON)).isEqualTo(code);

    world.open(gate);
    world.worker().start();
    assertThat(world.await(job, JobState.SUCCEEDED).crashes()).isEqualTo(1);
  }

  private static boolean ignoresInterrupts() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
  }

  @Test
  @OnlyWithRelease
  void a_stopping_worker_claims_no_more_jobs(World world) {
    Path gate = world.gate("go");
    ChildProcess worker = world.worker().start();
    JobId running = world.enqueueHeld("hold", gate);
    worker.awaitLine("began " + running + "#1", SOON);
    worker.signal("TERM");
    worker.awaitLine("stops; 1 job running", SOON);
    JobId late = world.holdfast().enqueue(Job.of("clock").priority(0)).id();
    world.open(gate);
    assertThat(worker.awaitExit(SOON)).isZero();
    assertThat(world.status(running).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(world.status(late).state()).isEqualTo(JobState.PENDING);
  }

  private static Launch withLongLeases(World world) {
    return world.worker().env("HEARTBEAT_INTERVAL_SEC", "10").env("LEASE_TIMEOUT_SEC", LONG_LEASE);
  }
}
