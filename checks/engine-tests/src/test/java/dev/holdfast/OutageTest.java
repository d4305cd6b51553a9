package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static dev.holdfast.testkit.Soon.STANDSTILL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.Impatient;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.testkit.FaultProxy;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.Metrics;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Workers reach the database through a proxy that breaks; the test itself does not. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = CapturedLog.OF_OUTAGES, mode = ResourceAccessMode.READ)
class OutageTest extends LibraryTest {
  private static final Duration LONGER_THAN_A_LEASE = QUICK.lease().multipliedBy(5).dividedBy(4);
  private static final Duration A_WHILE = QUICK.heartbeat().multipliedBy(5);

  private static final String CLAIMS =
      """
      SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND query LIKE '%WITH picked AS MATERIALIZED%'
      """;

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private FaultProxy proxy;
  private Holdfast library;

  @BeforeEach
  void openProxy(TestDatabase database) {
    proxy = closing(FaultProxy.before(database));
    library = closing(Holdfast.on(pool(proxy.url(database), 8)));
    assertThat(source(library)).isNotNull();
  }

  private WorkerBuilder remote() {
    return workerOf(library).timings(QUICK);
  }

  private WorkerBuilder waiting() {
    return remote()
        .handle(
            "wait",
            Json.class,
            (payload, context) -> {
              begun.countDown();
              goOn.await();
              return "done";
            });
  }

  // ---- the database is unreachable

  @Test
  void a_running_job_continues_and_is_settled_when_the_database_is_back() throws Exception {
    JobId id = enqueue(Job.of("wait"));
    Worker worker = start(waiting());
    start(
        workerOf(library, "another-queue")
            .timings(QUICK)
            .handle("nothing", Json.class, (payload, context) -> null));
    until(begun);
    proxy.cut();
    TimeUnit.MILLISECONDS.sleep(LONGER_THAN_A_LEASE.toMillis());
    goOn.countDown();
    TimeUnit.MILLISECONDS.sleep(A_WHILE.toMillis());
    assertThat(job(id).state()).isEqualTo(JobState.RUNNING);
    proxy.mend();
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.crashes()).isZero();
    assertThat(timeline(id)).containsExactly("created", "processing", "done");
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void a_job_still_running_when_the_database_is_back_keeps_its_lease() throws Exception {
    JobId id = enqueue(Job.of("wait"));
    start(waiting());
    until(begun);
    proxy.cut();
    TimeUnit.MILLISECONDS.sleep(LONGER_THAN_A_LEASE.toMillis());
    proxy.mend();
    long mended = System.nanoTime();
    until(() -> since(mended).compareTo(LONGER_THAN_A_LEASE) > 0);
    goOn.countDown();
    assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(1);
  }

  @Test
  void a_worker_continues_after_an_outage() throws Exception {
    start(remote().handle("echo", Json.class, (payload, context) -> payload));
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
    proxy.cut();
    JobId waiting = enqueue(Job.of("echo"));
    TimeUnit.MILLISECONDS.sleep(A_WHILE.toMillis());
    proxy.mend();
    await(waiting, JobState.SUCCEEDED);
    await(enqueue(Job.of("echo")), JobState.SUCCEEDED);
  }

  @Test
  void a_worker_does_not_start_while_the_database_is_unreachable() {
    WorkerBuilder builder = remote().handle("echo", Json.class, (payload, context) -> payload);
    Impatient.make(library.store());
    proxy.cut();
    JobId id = enqueue(Job.of("echo"));
    assertThatThrownBy(builder::start).hasMessageContaining("database");
    proxy.mend();
    start(builder);
    await(id, JobState.SUCCEEDED);
  }

  @Test
  void reports_during_an_outage_are_written_after_it() throws Exception {
    JobId id = enqueue(Job.of("telling"));
    start(
        remote()
            .handle(
                "telling",
                Json.class,
                (payload, context) -> {
                  begun.countDown();
                  goOn.await();
                  for (int percent = 0; percent <= 100; percent++) {
                    context.progress(percent);
                  }
                  context.event("said", "in the dark");
                  return null;
                }));
    until(begun);
    proxy.cut();
    goOn.countDown();
    TimeUnit.MILLISECONDS.sleep(A_WHILE.toMillis());
    proxy.mend();
    assertThat(await(id, JobState.SUCCEEDED).progress()).isEqualTo(100);
    assertThat(timeline(id)).containsSubsequence("progress", "said", "done");
  }

  @Test
  void a_strict_kind_stops_at_the_end_of_its_lease_and_is_released() throws Exception {
    JobId strict = enqueue(Job.of("strict"));
    JobId ordinary = enqueue(Job.of("wait"));
    CountDownLatch strictBegun = new CountDownLatch(1);
    CompletableFuture<Long> stopped = new CompletableFuture<>();
    start(
        waiting()
            .handle(
                Kind.of(
                        "strict",
                        Json.class,
                        (payload, context) -> {
                          if (context.lease().attempt() > 1) {
                            return "second";
                          }
                          strictBegun.countDown();
                          try {
                            goOn.await();
                          } catch (InterruptedException e) {
                            stopped.complete(System.nanoTime());
                            throw e;
                          }
                          return "first";
                        })
                    .strictly()));
    until(begun);
    until(strictBegun);
    long cut = System.nanoTime();
    proxy.cut();
    Duration took = Duration.ofNanos(stopped.get(SOON.toSeconds(), TimeUnit.SECONDS) - cut);
    // Nothing else could have stopped it; the rest is room for a machine that stands still.
    assertThat(took).isLessThan(QUICK.lease().plus(STANDSTILL));
    assertThat(job(ordinary).state()).isEqualTo(JobState.RUNNING);
    proxy.mend();
    JobStatus job = await(strict, JobState.SUCCEEDED);
    assertThat(result(strict)).isEqualTo("\"second\"");
    assertThat(job.crashes()).isZero();
    assertThat(job.failures()).isZero();
    assertThat(attempts(strict)).containsExactly(AttemptOutcome.RELEASED, AttemptOutcome.SUCCEEDED);
    goOn.countDown();
    assertThat(await(ordinary, JobState.SUCCEEDED).attempt()).isEqualTo(1);
  }

  @Test
  void stopping_takes_no_longer_when_the_database_is_unreachable() {
    enqueue(Job.of("wait"));
    Worker worker = start(waiting());
    until(begun);
    proxy.cut();
    long start = System.nanoTime();
    worker.stop(Duration.ofMillis(500));
    assertThat(since(start)).isLessThan(Duration.ofSeconds(30));
  }

  @Test
  void stopping_takes_no_longer_when_the_database_never_answers() {
    enqueue(Job.of("wait"));
    Worker worker = start(waiting());
    until(begun);
    proxy.freeze();
    long start = System.nanoTime();
    worker.stop(Duration.ofMillis(500));
    assertThat(since(start)).isLessThan(Duration.ofSeconds(30));
    proxy.cut();
    proxy.thaw();
  }

  // ---- one response is lost

  @Test
  void a_claim_whose_response_was_lost_is_released_and_counts_no_crash() {
    List<JobId> jobs = IntStream.range(0, 5).mapToObj(i -> enqueue(Job.of("echo"))).toList();
    CountDownLatch lost = proxy.loseNextReplyTo("SET state = 'RUNNING'");
    start(remote().timings(CALM).handle("echo", Json.class, (payload, context) -> payload));
    until(lost);
    for (JobId id : jobs) {
      JobStatus job = await(id, JobState.SUCCEEDED);
      assertThat(job.crashes()).isZero();
      assertThat(job.failures()).isZero();
      assertThat(attempts(id)).containsExactly(AttemptOutcome.RELEASED, AttemptOutcome.SUCCEEDED);
    }
  }

  @Test
  void a_claim_that_is_carried_out_late_while_the_worker_stops_is_released() throws Exception {
    enqueue(Job.of("wait"));
    Worker worker = start(waiting().timings(CALM).concurrency(2));
    until(begun);
    worker.pause();
    Job late = Job.of("wait");
    CompletableFuture<Void> stopped;
    try (Connection holder = db.dataSource().getConnection();
        Statement lock = holder.createStatement()) {
      holder.setAutoCommit(false);
      // Nobody sees the job before this transaction ends.
      lock.execute("LOCK TABLE holdfast.job IN EXCLUSIVE MODE");
      holdfast.enqueue(holder, late);
      worker.resume();
      until(() -> db.count(CLAIMS + " AND wait_event_type = 'Lock'") > 0);
      // This claim is the only one that can take the job.
      worker.pause();
      proxy.cut();
      stopped = CompletableFuture.runAsync(() -> worker.stop(NEVER));
      proxy.mend();
      holder.commit();
    }
    until(() -> attempts(late.id()).equals(List.of(AttemptOutcome.RELEASED)));
    assertThat(stopped).isNotDone();
    goOn.countDown();
    stopped.get();
    assertThat(job(late.id()).state()).isEqualTo(JobState.PENDING);
    assertThat(job(late.id()).crashes()).isZero();
  }

  @Test
  void a_success_whose_response_was_lost_counts_once() {
    List<String> heard = new CopyOnWriteArrayList<>();
    JobId id = enqueue(Job.of("echo"));
    CountDownLatch lost = proxy.loseNextReplyTo("SET state = 'SUCCEEDED'");
    Worker worker =
        start(
            remote()
                .timings(CALM)
                .listener(
                    new JobListener() {
                      @Override
                      public void settled(LeasedJob job, Settlement settlement, Ack ack) {
                        heard.add(ack.name());
                      }
                    })
                .handle("echo", Json.class, (payload, context) -> payload));
    until(lost);
    assertThat(await(id, JobState.SUCCEEDED).attempt()).isEqualTo(1);
    until(() -> !heard.isEmpty());
    assertThat(heard).containsExactly("ACCEPTED");
    assertThat(worker.metrics().value(Metrics.LATE_RESULTS)).isZero();
  }

  @Test
  void a_failure_whose_response_was_lost_counts_once() {
    JobId id = enqueue(Job.of("flaky"));
    CountDownLatch lost = proxy.loseNextReplyTo("'FAILED' AS outcome");
    start(
        remote()
            .timings(CALM)
            .handle(
                "flaky",
                Json.class,
                AT_ONCE,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    throw new IllegalStateException("once");
                  }
                  return null;
                }));
    until(lost);
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(job.failures()).isEqualTo(1);
    assertThat(job.attempt()).isEqualTo(2);
  }
}
