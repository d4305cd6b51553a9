package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.Impatient;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.source.JobSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A database and the library on it; what a test opens is closed after it. */
@ExtendWith(DatabaseExtension.class)
abstract class LibraryTest {
  /** No lease is in danger here. */
  static final Timings CALM =
      new Timings(
          Duration.ofSeconds(1), Duration.ofSeconds(30), Duration.ZERO, Duration.ofSeconds(30));

  /** For tests about leases: as short as a busy machine allows. */
  static final Timings QUICK =
      new Timings(Duration.ofMillis(500), AMPLE, Duration.ZERO, Duration.ofMillis(500));

  /** For tests in which a worker finds what others have lost, and holds nothing for long. */
  static final Timings SWEEPING =
      new Timings(
          Duration.ofMillis(500), Duration.ofSeconds(3), Duration.ZERO, Duration.ofMillis(500));

  /** So long that a test which waits for it fails. */
  static final Duration NEVER = Duration.ofMinutes(5);

  static final RetryPolicy AT_ONCE = RetryPolicy.NONE;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Map<Holdfast, JobSource> sources = new HashMap<>();
  TestDatabase db;
  Holdfast holdfast;

  @BeforeEach
  void open(TestDatabase database) {
    db = database;
    holdfast = closing(Holdfast.on(db.dataSource()));
  }

  @AfterEach
  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  final <T extends AutoCloseable> T closing(T resource) {
    opened.push(resource);
    return resource;
  }

  /** A pool that notices soon that nobody is there. */
  final HikariDataSource pool(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setUsername(db.user());
    config.setPassword(db.password());
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(250);
    config.setValidationTimeout(250);
    // Nor does it insist on a first connection within that time.
    config.setInitializationFailTimeout(-1);
    return closing(new HikariDataSource(config));
  }

  /** A library whose workers are refused sooner than usual. */
  final Holdfast impatient(DataSource source) {
    Holdfast library = closing(Holdfast.on(source));
    Impatient.make(library.queue());
    return library;
  }

  // ---- workers

  WorkerBuilder worker(String... queues) {
    return workerOf(holdfast, queues);
  }

  final WorkerBuilder workerOf(Holdfast library, String... queues) {
    List<String> served = queues.length == 0 ? List.of(Job.DEFAULT_QUEUE) : List.of(queues);
    return new WorkerBuilder(source(library), library.codec(), served)
        .timings(CALM)
        .poll(Duration.ofMillis(100))
        .shutdownTimeout(Duration.ZERO);
  }

  /** Where its workers get their jobs: the database itself, unless something stands between. */
  final JobSource source(Holdfast library) {
    return sources.computeIfAbsent(
        library,
        one ->
            Between.found()
                .map(between -> closing(between.open(one)).source())
                .orElseGet(() -> new DirectSource(one.queue(), null)));
  }

  final Worker start(WorkerBuilder builder) {
    return closing(builder.start());
  }

  /** Whatever else runs, somebody takes back what has lost its lease. */
  final Worker startJudge(Timings timings) {
    return start(
        worker("nobody-uses-this")
            .timings(timings)
            .handle("nothing", Json.class, (payload, context) -> null));
  }

  // ---- jobs

  final JobId enqueue(Job job) {
    return holdfast.enqueue(job).id();
  }

  final JobStatus job(JobId id) {
    return holdfast.find(id).orElseThrow();
  }

  final Failure failure(JobId id) {
    Failure failure = job(id).failure();
    if (failure == null) {
      throw new AssertionError("no failure: " + job(id));
    }
    return failure;
  }

  final String result(JobId id) {
    return String.valueOf(job(id).result());
  }

  final JobStatus await(JobId id, JobState state) {
    until(() -> job(id).state() == state || job(id).state().isTerminal());
    JobStatus job = job(id);
    assertThat(job.state()).as(job.toString()).isEqualTo(state);
    return job;
  }

  final List<String> timeline(JobId id) {
    return holdfast.queries().timeline(id).stream().map(JobEvent::type).toList();
  }

  final List<AttemptOutcome> attempts(JobId id) {
    return holdfast.queries().attempts(id).stream().map(Attempt::outcome).toList();
  }

  /** Takes a running job away from its worker, as if that had not been heard for long. */
  final void takeAway(JobId id) {
    int attempt = job(id).attempt();
    until(
        () -> {
          db.sql(
              "UPDATE holdfast.job SET lease_expires_at = clock_timestamp() - interval '1 hour'"
                  + " WHERE id = ? AND state = 'RUNNING' AND attempt = ?",
              id.value(),
              attempt);
          holdfast.queue().maintenance().reap(Duration.ZERO);
          // A heartbeat may have come between the two.
          return job(id).state() != JobState.RUNNING || job(id).attempt() > attempt;
        });
  }

  // ---- waiting

  static void until(Callable<Boolean> condition) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .atMost(SOON)
        .until(condition);
  }

  static void until(CountDownLatch latch) {
    until(() -> latch.getCount() == 0);
  }

  /** As a handler that does not listen: an interrupt ends neither its wait nor is it forgotten. */
  static void deafWhile(BooleanSupplier condition) {
    boolean interrupted = false;
    while (condition.getAsBoolean()) {
      try {
        TimeUnit.MILLISECONDS.sleep(2);
      } catch (InterruptedException unheeded) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
