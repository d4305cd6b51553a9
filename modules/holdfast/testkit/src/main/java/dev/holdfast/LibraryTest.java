package dev.holdfast;

import static dev.holdfast.testkit.Soon.AMPLE;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.CommandAction;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.Impatient;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.Eventually;
import dev.holdfast.testkit.Pool;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** A database and the library on it; what a test opens is closed after it. */
@ExtendWith(DatabaseExtension.class)
public abstract class LibraryTest {
  /** No lease is in danger here. */
  protected static final Timings CALM =
      new Timings(
          Duration.ofSeconds(1), Duration.ofSeconds(30), Duration.ZERO, Duration.ofSeconds(30));

  /** For tests about leases: as short as a busy machine allows. */
  protected static final Timings QUICK =
      new Timings(Duration.ofMillis(500), AMPLE, Duration.ZERO, Duration.ofMillis(500));

  /** For tests in which a worker finds what others have lost, and holds nothing for long. */
  protected static final Timings SWEEPING =
      new Timings(
          Duration.ofMillis(500), Duration.ofSeconds(3), Duration.ZERO, Duration.ofMillis(500));

  /** So long that a test which waits for it fails. */
  protected static final Duration NEVER = Duration.ofMinutes(5);

  protected static final RetryPolicy AT_ONCE = RetryPolicy.NONE;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Map<Holdfast, JobSource> sources = new HashMap<>();
  protected TestDatabase db;
  protected Holdfast holdfast;

  @BeforeEach
  protected void open(TestDatabase database) {
    db = database;
    holdfast = closing(Holdfast.on(db.dataSource()));
  }

  @AfterEach
  protected void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }

  protected final <T extends AutoCloseable> T closing(T resource) {
    opened.push(resource);
    return resource;
  }

  /** A pool that soon reports that no server answers. */
  protected final HikariDataSource pool(String url, int size) {
    return closing(Pool.impatient(url, db, size));
  }

  /** A library whose workers are refused sooner than usual. */
  protected final Holdfast impatient(DataSource source) {
    Holdfast library = closing(Holdfast.on(source));
    Impatient.make(library.store());
    return library;
  }

  // ---- workers

  protected WorkerBuilder worker(String... queues) {
    return workerOf(holdfast, queues);
  }

  protected final WorkerBuilder workerOf(Holdfast library, String... queues) {
    List<String> served = queues.length == 0 ? List.of(Job.DEFAULT_QUEUE) : List.of(queues);
    QueueUpkeep upkeep =
        Between.found().isPresent()
            ? null
            : new QueueUpkeep(library.store(), null, System::nanoTime);
    return new WorkerBuilder(source(library), upkeep, library.codec(), served, kind -> {})
        .timings(CALM)
        .poll(Duration.ofMillis(100))
        .shutdownTimeout(Duration.ZERO);
  }

  /** Where its workers get their jobs: the database itself, unless something stands between. */
  protected final JobSource source(Holdfast library) {
    return sources.computeIfAbsent(
        library,
        one ->
            Between.found()
                .map(between -> closing(between.open(one)).source())
                .orElseGet(() -> new DirectSource(one.store())));
  }

  protected final Worker start(WorkerBuilder builder) {
    return closing(builder.start());
  }

  /** Reaps expired leases, whatever else runs. */
  protected final Worker startReaper(Timings timings) {
    return start(
        worker("nobody-uses-this")
            .timings(timings)
            .handle("nothing", Json.class, (payload, context) -> null));
  }

  // ---- jobs

  protected final JobId enqueue(Job job) {
    return holdfast.enqueue(job).id();
  }

  protected final JobStatus job(JobId id) {
    return holdfast.find(id).orElseThrow();
  }

  protected final Failure failure(JobId id) {
    Failure failure = job(id).failure();
    if (failure == null) {
      throw new AssertionError("no failure: " + job(id));
    }
    return failure;
  }

  protected final String result(JobId id) {
    return String.valueOf(job(id).result());
  }

  protected final JobStatus await(JobId id, JobState state) {
    until(() -> job(id).state() == state || job(id).state().isTerminal());
    JobStatus job = job(id);
    assertThat(job.state()).as(job.toString()).isEqualTo(state);
    return job;
  }

  protected final List<String> timeline(JobId id) {
    return holdfast.queries().timeline(id).stream().map(JobEvent::type).toList();
  }

  /** What its timeline says of its steps, in short. */
  protected final List<String> steps(JobId id) {
    return timeline(id).stream()
        .filter(type -> type.startsWith("task."))
        .map(type -> type.replace("task.", "").replace("step.attempt.", ""))
        .toList();
  }

  protected final String firstStepFailure(JobId id) {
    return holdfast.queries().timeline(id).stream()
        .filter(event -> event.type().equals(EventType.STEP_FAILED))
        .findFirst()
        .orElseThrow()
        .data()
        .text();
  }

  /** A command of an operator, to the job or to one of its steps. */
  protected final void ask(JobId id, CommandAction action, @Nullable String step) {
    assertThat(holdfast.jobs().command(id, new JobCommand(action, step, "ada", "test"), Tenant.ANY))
        .isEqualTo(JobCommand.Answer.ACCEPTED);
  }

  protected final List<AttemptOutcome> attempts(JobId id) {
    return holdfast.queries().attempts(id).stream().map(Attempt::outcome).toList();
  }

  /** Takes a running job away from its worker, as if that had not been heard for long. */
  protected final void takeAway(JobId id) {
    int attempt = job(id).attempt();
    until(
        () -> {
          db.sql(
              "UPDATE holdfast.job SET heartbeat_at = clock_timestamp(),"
                  + " lease_expires_at = clock_timestamp() - interval '1 hour'"
                  + " WHERE id = ? AND state = 'RUNNING' AND attempt = ?",
              id.value(),
              attempt);
          holdfast.store().maintenance().reap(Duration.ZERO);
          // A heartbeat may have come between the two.
          return job(id).state() != JobState.RUNNING || job(id).attempt() > attempt;
        });
  }

  // ---- waiting

  protected static void until(Callable<Boolean> condition) {
    Eventually.until(condition);
  }

  protected static void until(CountDownLatch latch) {
    Eventually.until(latch);
  }

  /** As a handler that does not listen: an interrupt ends neither its wait nor is it forgotten. */
  protected static void ignoreInterruptsWhile(BooleanSupplier condition) {
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

  protected static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
