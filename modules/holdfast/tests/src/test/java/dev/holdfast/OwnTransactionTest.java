package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.JobListener;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.Metrics;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A handler that settles its job in the transaction of its own writes. */
class OwnTransactionTest extends LibraryTest {
  /** Heartbeats that come too rarely to notice anything. */
  private static final Timings RARE =
      new Timings(
          Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ZERO, Duration.ofMinutes(1));

  private final List<String> heard = new CopyOnWriteArrayList<>();

  @BeforeEach
  void createTable(TestDatabase database) {
    database.sql("CREATE TABLE effect (job uuid, attempt int)");
  }

  private long effects(JobId id) {
    return db.count("SELECT count(*) FROM effect WHERE job = ?", id.value());
  }

  private static void write(Connection connection, JobContext context) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
      insert.setObject(1, context.id().value());
      insert.setInt(2, context.lease().attempt());
      insert.executeUpdate();
    }
  }

  /** What a handler does between its settle and its commit. */
  private interface BeforeCommit {
    void happens(Connection connection, JobContext context) throws Exception;
  }

  private Handler<Json> transfer(BeforeCommit beforeCommit) {
    return (payload, context) -> {
      try (Connection connection = db.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        write(connection, context);
        holdfast.succeed(connection, context, Map.of("attempt", context.lease().attempt()));
        beforeCommit.happens(connection, context);
        connection.commit();
      }
      return "ignored";
    };
  }

  private WorkerBuilder listened() {
    return worker()
        .listener(
            new JobListener() {
              @Override
              public void settled(LeasedJob job, Settlement settlement, Ack ack) {
                heard.add(settlement.getClass().getSimpleName() + " " + ack);
              }
            });
  }

  @Test
  void the_effect_and_the_success_happen_together() {
    JobId id = enqueue(Job.of("transfer"));
    List<Object> inBetween = new CopyOnWriteArrayList<>();
    Worker worker =
        start(
            listened()
                .handle(
                    "transfer",
                    Json.class,
                    transfer(
                        (connection, context) -> {
                          inBetween.add(job(context.id()).state());
                          inBetween.add(effects(context.id()));
                        })));
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(inBetween).containsExactly(JobState.RUNNING, 0L);
    assertThat(effects(id)).isEqualTo(1);
    assertThat(result(id)).isEqualTo("{\"attempt\": 1}");
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(timeline(id)).containsExactly("created", "processing", "done");
    until(() -> heard.equals(List.of("Succeed ACCEPTED")));
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void a_transaction_that_was_not_committed_fails_the_attempt_and_leaves_no_effect() {
    JobId id = enqueue(Job.of("transfer").maxAttempts(2));
    worker()
        .handle(
            "transfer",
            Json.class,
            AT_ONCE,
            transfer((connection, context) -> connection.rollback()))
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).code()).isEqualTo(Failure.RETRIES_EXHAUSTED);
    assertThat(failure(id).message()).contains("did not commit");
    assertThat(attempts(id)).containsExactly(AttemptOutcome.FAILED, AttemptOutcome.FAILED);
    assertThat(effects(id)).isZero();
  }

  @Test
  void a_handler_that_throws_before_its_commit_is_tried_again_and_has_its_effect_once() {
    JobId id = enqueue(Job.of("transfer"));
    worker()
        .handle(
            "transfer",
            Json.class,
            AT_ONCE,
            transfer(
                (connection, context) -> {
                  if (context.lease().attempt() == 1) {
                    throw new IllegalStateException("second thoughts");
                  }
                }))
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).attempt()).isEqualTo(2);
    assertThat(effects(id)).isEqualTo(1);
  }

  @Test
  void a_transaction_left_open_holds_up_no_other_job() throws Exception {
    CompletableFuture<Connection> leaked = new CompletableFuture<>();
    JobId id = enqueue(Job.of("leak"));
    start(
        worker()
            .concurrency(5)
            .handle("quick", Json.class, (payload, context) -> "done")
            .handle(
                "leak",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    Connection connection = db.connection();
                    connection.setAutoCommit(false);
                    holdfast.succeed(connection, context, null);
                    leaked.complete(connection);
                  }
                  return "second";
                }));
    try (Connection open = leaked.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
      List<JobId> others = IntStream.range(0, 20).mapToObj(i -> enqueue(Job.of("quick"))).toList();
      long start = System.nanoTime();
      others.forEach(other -> await(other, JobState.SUCCEEDED));
      assertThat(since(start)).isLessThan(Duration.ofMinutes(1));
      assertThat(job(id).state()).isEqualTo(JobState.RUNNING);
      open.rollback();
    }
    assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(2);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.FAILED, AttemptOutcome.SUCCEEDED);
  }

  @Test
  void a_row_that_somebody_else_holds_locked_holds_up_no_other_job() throws Exception {
    Holdfast impatient =
        closing(Holdfast.on(pool(db.url() + "?options=-c%20lock_timeout=300ms", 5)));
    CountDownLatch goOn = new CountDownLatch(1);
    List<JobId> jobs = IntStream.range(0, 5).mapToObj(i -> enqueue(Job.of("together"))).toList();
    start(
        workerOf(impatient)
            .handle(
                "together",
                Json.class,
                (payload, context) -> {
                  goOn.await();
                  return null;
                }));
    jobs.forEach(id -> await(id, JobState.RUNNING));
    JobId locked = jobs.getFirst();
    try (Connection holder = db.connection()) {
      holder.setAutoCommit(false);
      try (PreparedStatement lock =
          holder.prepareStatement("SELECT id FROM holdfast.job WHERE id = ? FOR UPDATE")) {
        lock.setObject(1, locked.value());
        lock.execute();
      }
      goOn.countDown();
      jobs.stream().skip(1).forEach(id -> await(id, JobState.SUCCEEDED));
      assertThat(job(locked).state()).isEqualTo(JobState.RUNNING);
    }
    assertThat(await(locked, JobState.SUCCEEDED).attempt()).isEqualTo(1);
  }

  @Test
  void without_the_lease_the_transaction_cannot_commit() {
    List<Throwable> thrown = new CopyOnWriteArrayList<>();
    JobId id = enqueue(Job.of("transfer"));
    start(
        worker()
            .timings(RARE)
            .handle(
                "transfer",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    takeAway(context.id());
                  }
                  try {
                    return transfer((connection, c) -> {}).handle(payload, context);
                  } catch (LeaseLostException lost) {
                    thrown.add(lost);
                    throw lost;
                  }
                }));
    JobStatus job = await(id, JobState.SUCCEEDED);
    until(() -> thrown.size() == 1);
    assertThat(job.attempt()).isEqualTo(2);
    assertThat(effects(id)).isEqualTo(1);
    assertThat(db.count("SELECT attempt FROM effect")).isEqualTo(2);
  }

  @Test
  void a_commit_whose_answer_was_lost_is_recognised() {
    FaultProxy proxy = closing(FaultProxy.before(db));
    HikariDataSource fragile = pool(proxy.url(db), 2);
    List<Throwable> thrown = new CopyOnWriteArrayList<>();
    JobId id = enqueue(Job.of("transfer"));
    start(
        listened()
            .handle(
                "transfer",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  try (Connection connection = fragile.getConnection()) {
                    connection.setAutoCommit(false);
                    write(connection, context);
                    holdfast.succeed(connection, context, "once");
                    proxy.loseNextReplyTo("COMMIT");
                    connection.commit();
                  } catch (SQLException lost) {
                    thrown.add(lost);
                    throw lost;
                  }
                  return null;
                }));
    JobStatus job = await(id, JobState.SUCCEEDED);
    until(() -> heard.equals(List.of("Succeed ACCEPTED")));
    assertThat(thrown).hasSize(1);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(effects(id)).isEqualTo(1);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void an_open_transaction_endangers_neither_its_own_lease_nor_any_other() {
    startJudge(QUICK);
    Duration longer = QUICK.lease().multipliedBy(5).dividedBy(4);
    CountDownLatch open = new CountDownLatch(1);
    JobId slow = enqueue(Job.of("transfer"));
    JobId other = enqueue(Job.of("long"));
    JobId quick = enqueue(Job.of("quick"));
    start(
        worker()
            .timings(QUICK)
            .handle(
                "transfer",
                Json.class,
                transfer(
                    (connection, context) -> {
                      open.countDown();
                      Thread.sleep(longer);
                      context.checkCancelled();
                    }))
            .handle(
                "long",
                Json.class,
                (payload, context) -> {
                  open.await();
                  Thread.sleep(longer);
                  return null;
                })
            .handle(
                "quick",
                Json.class,
                (payload, context) -> {
                  open.await();
                  context.progress(50);
                  context.event("seen", "");
                  return null;
                }));
    await(quick, JobState.SUCCEEDED);
    assertThat(job(slow).state()).isEqualTo(JobState.RUNNING);
    for (JobId id : List.of(slow, other)) {
      assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(1);
      assertThat(job(id).crashes()).isZero();
    }
    assertThat(effects(slow)).isEqualTo(1);
  }

  @Test
  void a_handler_that_goes_on_after_its_commit_is_not_taken_for_one_that_lost_its_lease()
      throws Exception {
    CompletableFuture<Boolean> disturbed = new CompletableFuture<>();
    JobId id = enqueue(Job.of("transfer"));
    Worker worker =
        start(
            worker()
                .timings(QUICK)
                .handle(
                    "transfer",
                    Json.class,
                    (payload, context) -> {
                      transfer((connection, c) -> {}).handle(payload, context);
                      try {
                        Thread.sleep(QUICK.heartbeat().multipliedBy(5));
                        disturbed.complete(context.isCancelled());
                      } catch (InterruptedException e) {
                        disturbed.complete(true);
                      }
                      return null;
                    }));
    assertThat(disturbed.get(SOON.toSeconds(), TimeUnit.SECONDS)).isFalse();
    await(id, JobState.SUCCEEDED);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void what_is_said_belongs_before_the_settle() {
    JobId id = enqueue(Job.of("transfer"));
    worker()
        .handle(
            "transfer",
            Json.class,
            (payload, context) -> {
              context.progress(10);
              context.progress(100, "all written");
              return transfer(
                      (connection, c) -> {
                        c.progress(1, "too late");
                        assertThatThrownBy(() -> c.event("late", ""))
                            .isInstanceOf(IllegalStateException.class);
                      })
                  .handle(payload, context);
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job(id).progress()).isEqualTo(100);
    assertThat(timeline(id)).endsWith("progress", "done").doesNotContain("late");
  }

  @Test
  void a_result_that_cannot_be_stored_fails_the_job_without_an_effect() {
    JobId id = enqueue(Job.of("odd"));
    worker()
        .handle(
            "odd",
            Json.class,
            AT_ONCE,
            (payload, context) -> {
              try (Connection connection = db.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                write(connection, context);
                holdfast.succeed(connection, context, "a\0b");
                connection.commit();
              }
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(job(id).attempt()).isEqualTo(1);
    assertThat(failure(id).code()).isEqualTo("RESULT_NOT_JSON");
    assertThat(effects(id)).isZero();
  }

  @Test
  void without_a_transaction_there_is_nothing_to_settle_in() {
    JobId id = enqueue(Job.of("careless").maxAttempts(1));
    worker()
        .handle(
            "careless",
            Json.class,
            (payload, context) -> {
              try (Connection connection = db.dataSource().getConnection()) {
                holdfast.succeed(connection, context, null);
              }
              return null;
            })
        .drain();
    assertThat(job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(failure(id).message()).contains("turn auto-commit off");
  }
}
