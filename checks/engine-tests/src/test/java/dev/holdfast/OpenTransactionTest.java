package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.worker.handler.LeaseLostException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Handlers whose transactions stay open, or whose commit is not confirmed. */
class OpenTransactionTest extends OwnTransactionFixture {
  /** Heartbeats that come too rarely to notice anything. */
  private static final Timings RARE =
      new Timings(
          Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ZERO, Duration.ofMinutes(1));

  @Test
  void a_transaction_left_open_delays_no_other_job() throws Exception {
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
  void a_row_locked_by_another_transaction_delays_no_other_job() throws Exception {
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
  void a_commit_whose_response_was_lost_is_recognised() {
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
  void an_open_transaction_costs_no_lease() {
    startReaper(QUICK);
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
}
