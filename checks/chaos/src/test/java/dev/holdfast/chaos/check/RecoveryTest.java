package dev.holdfast.chaos.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JacksonCodec;
import dev.holdfast.chaos.fleet.Database;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.Job;
import dev.holdfast.queue.JobStore;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RecoveryTest {
  private static final long PID = 4711;

  private static EmptyRun run;
  private static Database database;
  private static JobStore store;

  private final Recovery recovery = new Recovery(database);

  @BeforeAll
  static void start() throws Exception {
    run = EmptyRun.start();
    database = run.database();
    store = new JobStore(database.direct(), new JacksonCodec(), JobStore.Options.DEFAULT);
  }

  @AfterAll
  static void stop() {
    store.close();
    run.close();
  }

  @BeforeEach
  void empty() throws SQLException {
    database.execute("TRUNCATE holdfast.job CASCADE; TRUNCATE holdfast.event, chaos.ran");
  }

  /** A job that the process runs, under its first attempt. */
  private static LeasedJob running(long pid) {
    store.jobs().enqueue(Job.of("plain"));
    return store
        .jobs()
        .claim(new ClaimRequest("default", 1, "host." + pid + ".0", Duration.ofMinutes(1)))
        .jobs()
        .getFirst();
  }

  private static void reap() throws SQLException {
    database.execute(
        "UPDATE holdfast.job SET heartbeat_at = now() - interval '1 hour',"
            + " lease_expires_at = now() - interval '1 hour' WHERE state = 'RUNNING'");
    store.maintenance().reap(Duration.ZERO);
  }

  @Test
  void a_job_of_a_killed_process_counts_from_the_kill_until_it_was_requeued() throws Exception {
    running(PID);
    running(PID + 1);
    recovery.killed(PID);
    assertThat(recovery.requeued()).isEmpty();
    reap();
    assertThat(recovery.requeued()).singleElement().matches(Duration::isPositive);
  }

  @Test
  void a_job_of_a_killed_process_counts_until_its_next_attempt_begins() throws Exception {
    LeasedJob job = running(PID);
    recovery.killed(PID);
    database.execute("INSERT INTO chaos.ran VALUES ('" + job.id() + "', 1)");
    assertThat(recovery.startedAgain()).isEmpty();
    database.execute(
        "INSERT INTO chaos.ran VALUES ('" + job.id() + "', 2, now() + interval '1 minute')");
    assertThat(recovery.startedAgain())
        .singleElement()
        .matches(time -> time.compareTo(Duration.ofMinutes(1)) >= 0);
  }

  @Test
  void a_job_that_waited_for_the_database_is_left_out() throws Exception {
    running(PID);
    recovery.killed(PID);
    recovery.outageBegins();
    reap();
    recovery.outageEnds("cut");
    assertThat(database.count("SELECT count(*) FROM holdfast.event WHERE type = 'requeued:stale'"))
        .isOne();
    assertThat(recovery.requeued()).isEmpty();
  }

  @Test
  void the_first_job_after_an_outage_is_the_first_that_began_after_its_end() throws Exception {
    LeasedJob job = running(PID);
    database.execute("INSERT INTO chaos.ran VALUES ('" + job.id() + "', 1)");
    recovery.outageBegins();
    recovery.outageEnds("cut");
    assertThat(recovery.firstStarts()).isEmpty();
    database.execute("INSERT INTO chaos.ran VALUES ('" + job.id() + "', 2)");
    assertThat(recovery.firstStarts()).containsOnlyKeys("cut");
    assertThat(recovery.firstStarts().get("cut")).singleElement().matches(Duration::isPositive);
  }
}
