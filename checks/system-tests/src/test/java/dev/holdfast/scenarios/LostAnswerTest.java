package dev.holdfast.scenarios;

import static dev.holdfast.model.job.EventType.CREATED;
import static dev.holdfast.model.job.EventType.DONE;
import static dev.holdfast.model.job.EventType.PROCESSING;
import static dev.holdfast.model.job.EventType.RELEASED;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.ChildProcess;
import dev.holdfast.testkit.Durable;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.OnlyWithAll;
import dev.holdfast.testkit.OnlyWithRelease;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.Launch;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The database has committed, but its response is lost. */
@OnlyWithAll
@Durable
@ExtendWith(WorldExtension.class)
class LostAnswerTest {
  private final World world;
  private final TestDatabase database;
  private final FaultProxy proxy;

  LostAnswerTest(World world, TestDatabase database) {
    this.world = world;
    this.database = database;
    this.proxy = FaultProxy.before(database);
  }

  @AfterEach
  void end() {
    proxy.close();
  }

  @Test
  void an_enqueue_is_resolved_by_the_id_of_its_job() {
    try (Holdfast holdfast = Holdfast.on(throughProxy())) {
      Job job = Job.of("clock");
      CountDownLatch lost = proxy.loseNextReplyTo("INSERT INTO holdfast.job");
      assertThat(holdfast.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
      assertThat(lost.getCount()).isZero();
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @Test
  void a_repeated_enqueue_with_a_unique_key_is_not_its_own_duplicate() {
    try (Holdfast holdfast = Holdfast.on(throughProxy())) {
      Job job = Job.of("clock").uniqueKey("once");
      CountDownLatch lost = proxy.loseNextReplyTo("COMMIT");
      assertThat(holdfast.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
      assertThat(lost.getCount()).isZero();
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @Test
  void an_enqueue_in_the_callers_transaction_can_be_looked_up_and_repeated() throws SQLException {
    Job job = Job.of("clock");
    DataSource source = throughProxy();
    try (Holdfast holdfast = Holdfast.on(source)) {
      try (Connection connection = source.getConnection()) {
        connection.setAutoCommit(false);
        holdfast.enqueue(connection, job);
        proxy.loseNextReplyTo("COMMIT");
        assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
      }
      assertThat(holdfast.find(job.id())).isPresent();
      assertThat(holdfast.enqueue(job)).isEqualTo(new Enqueued(job.id(), false));
      assertThat(jobs()).isEqualTo(1);
    }
  }

  @Test
  void the_command_line_enqueues_one_job_and_prints_its_id() {
    JobId id = JobId.next();
    CountDownLatch lost = proxy.loseNextReplyTo("INSERT INTO holdfast.job");
    Launch.Answer answer =
        world
            .launch("enqueue", "clock", "--id", id.toString())
            .env("HOLDFAST_DATABASE_URL", proxy.url(database))
            .run();
    assertThat(answer).isEqualTo(new Launch.Answer(0, List.of(id.toString()), List.of()));
    assertThat(lost.getCount()).isZero();
    assertThat(jobs()).isEqualTo(1);
  }

  @Test
  @OnlyWithRelease
  void a_settle_in_the_handlers_transaction_is_known_to_have_happened() {
    ChildProcess worker = workerThroughProxy();
    JobId job = JobId.next();
    CountDownLatch lost = proxy.loseNextReplyTo(ScenarioKinds.commitOf(new Lease(job, 1)));
    world.holdfast().enqueue(Job.of("effect", new ScenarioKinds.Work(0)).id(job));
    worker.awaitLine("commit failed " + job + "#1", SOON);
    JobStatus done = world.await(job, JobState.SUCCEEDED);
    assertThat(done.attempt()).isEqualTo(1);
    stop(worker);
    assertThat(lost.getCount()).isZero();
    assertThat(world.status(job)).isEqualTo(done);
    assertThat(world.count("SELECT count(*) FROM effect")).isEqualTo(1);
    assertThat(worker.lines()).noneMatch(line -> line.contains("late result"));
  }

  @Test
  @OnlyWithRelease
  void a_repeated_settle_is_not_a_late_result() {
    ChildProcess worker = workerThroughProxy();
    CountDownLatch lost = proxy.loseNextReplyTo("SET state = 'SUCCEEDED'");
    JobId job = world.enqueue("work", new ScenarioKinds.Work(0));
    world.await(job, JobState.SUCCEEDED);
    stop(worker);
    assertThat(lost.getCount()).isZero();
    assertThat(world.timeline(job).types()).containsExactly(CREATED, PROCESSING, DONE);
    assertThat(world.count("SELECT count(*) FROM ran")).isEqualTo(1);
    assertThat(worker.lines()).noneMatch(line -> line.contains("late result"));
  }

  @Test
  @OnlyWithRelease
  void a_claim_whose_response_was_lost_is_released_without_using_budget() {
    world.enqueue("work", new ScenarioKinds.Work(0));
    CountDownLatch lost = proxy.loseNextReplyTo("SET state = 'RUNNING'");
    ChildProcess worker = workerThroughProxy();
    Eventually.until(SOON, "it is done", () -> succeeded() == 1);
    stop(worker);
    assertThat(lost.getCount()).isZero();
    JobId job = world.holdfast().queries().list(JobFilter.ALL).getFirst().id();
    assertThat(world.timeline(job).types())
        .containsExactly(CREATED, PROCESSING, RELEASED, PROCESSING, DONE);
    assertThat(world.status(job).crashes()).isZero();
    assertThat(world.status(job).failures()).isZero();
    assertThat(world.count("SELECT count(*) FROM ran")).isEqualTo(1);
  }

  private DataSource throughProxy() {
    return database.dataSource(proxy, 4);
  }

  /** With leases that do not expire during the test, so that nothing is recovered by reaping. */
  private ChildProcess workerThroughProxy() {
    return world
        .worker()
        .env("HEARTBEAT_INTERVAL_SEC", "20")
        .env("LEASE_TIMEOUT_SEC", "60")
        .env("HOLDFAST_DATABASE_URL", proxy.url(database))
        .start();
  }

  private static void stop(ChildProcess worker) {
    worker.signal("TERM");
    assertThat(worker.awaitExit(SOON)).isZero();
  }

  private long jobs() {
    return world.count("SELECT count(*) FROM holdfast.job");
  }

  private long succeeded() {
    return world.count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
  }
}
