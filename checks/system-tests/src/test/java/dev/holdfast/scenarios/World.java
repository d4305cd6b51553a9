package dev.holdfast.scenarios;

import static dev.holdfast.testkit.Soon.AMPLE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.examples.clip.ClipKinds;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Pool;
import dev.holdfast.testkit.Sql;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.program.Launch;
import dev.holdfast.testkit.program.Processes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;

/** One test's world: a database, the library on it, a folder, and the processes started in it. */
final class World implements AutoCloseable {
  /** The default of worker processes. */
  static final Duration LEASE = AMPLE;

  /** The classes of these tests, {@link ScenarioKinds} among them, and the example that it uses. */
  static final Path[] KINDS = {placeOf(ScenarioKinds.class), placeOf(ClipKinds.class)};

  private static final Duration COUNTING = Duration.ofMillis(250);

  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final Processes processes = new Processes();

  World(String url, String user, String password) {
    pool = Pool.of(url, user, password, 12);
    holdfast = Holdfast.on(pool);
  }

  static World on(TestDatabase database) {
    World world = new World(database.url(), database.user(), database.password());
    world.makeTables();
    return world;
  }

  /** Where the handlers of {@link ScenarioKinds} leave their marks; nothing here is unique. */
  void makeTables() {
    sql().update("CREATE TABLE ran (job uuid NOT NULL, attempt int NOT NULL)");
    sql().update("CREATE TABLE effect (job uuid NOT NULL, attempt int NOT NULL)");
  }

  private static Path placeOf(Class<?> type) {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
  }

  Holdfast holdfast() {
    return holdfast;
  }

  HikariDataSource pool() {
    return pool;
  }

  Path folder() {
    return processes.folder();
  }

  // ---- processes

  /** Builds a worker process on this database, by default with short leases. */
  Launch worker(String... arguments) {
    return launch("worker")
        .arguments(arguments)
        .env("HEARTBEAT_INTERVAL_SEC", "1")
        .env("LEASE_TIMEOUT_SEC", Long.toString(LEASE.toSeconds()));
  }

  /** Any command of the command line, on this database. */
  Launch launch(String... command) {
    return processes
        .launch(command)
        .classPath(KINDS)
        .env("HOLDFAST_DATABASE_URL", pool.getJdbcUrl())
        .env("HOLDFAST_DATABASE_USER", pool.getUsername())
        .env("HOLDFAST_DATABASE_PASSWORD", pool.getPassword());
  }

  // ---- jobs

  /** A file's name, for jobs that go on once {@link #open} has made it. */
  Path gate(String name) {
    return folder().resolve(name);
  }

  void open(Path gate) {
    try {
      Files.createFile(gate);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  JobId enqueue(String kind, Object payload) {
    return holdfast.enqueue(Job.of(kind, payload)).id();
  }

  JobId enqueueHeld(String kind, Path gate) {
    return enqueue(kind, new ScenarioKinds.Hold(gate.toString()));
  }

  JobStatus status(JobId job) {
    return holdfast.find(job).orElseThrow();
  }

  JobStatus await(JobId job, JobState state) {
    return await(job, state, SOON);
  }

  JobStatus await(JobId job, JobState state, Duration limit) {
    Eventually.until(
        limit,
        "job " + job + " is " + state,
        () -> {
          JobState now = status(job).state();
          if (now.isTerminal() && now != state) {
            throw new AssertionError("job ended as " + status(job));
          }
          return now == state;
        });
    return status(job);
  }

  /** The timeline, whose numbers are checked on the way. */
  Timeline timeline(JobId job) {
    return Timeline.of(holdfast.queries().timeline(job));
  }

  Sql sql() {
    return Sql.on(pool);
  }

  long count(String sql, Object... arguments) {
    return sql().count(sql, arguments);
  }

  /**
   * All of these jobs have succeeded. However slow the machine is it waits, as long as one more
   * succeeds now and then. To count them takes a while, in which others could have worked.
   */
  void awaitAll(long jobs) {
    long done = succeeded();
    while (done < jobs) {
      long seen = done;
      done =
          Awaitility.await("more than " + seen + " of " + jobs + " jobs are done")
              .atMost(SOON)
              .pollInterval(COUNTING)
              .until(this::succeeded, now -> now > seen);
    }
    assertThat(done).describedAs("jobs that succeeded").isEqualTo(jobs);
  }

  private long succeeded() {
    return count("SELECT count(*) FROM holdfast.job WHERE state = 'SUCCEEDED'");
  }

  void printOutput() {
    processes.printOutput();
  }

  @Override
  public void close() {
    processes.close();
    holdfast.close();
    pool.close();
  }
}
