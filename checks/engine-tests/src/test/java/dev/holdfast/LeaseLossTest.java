package dev.holdfast;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.testkit.CapturedLog;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LeaseLossTest extends LibraryTest {
  /** Heartbeats that come too rarely to notice anything. */
  private static final Timings RARE =
      new Timings(
          Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ZERO, Duration.ofMinutes(1));

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();

  /** The first attempt waits for the latch and ignores interrupts; the next ones succeed. */
  private final Handler<Json> handler =
      (payload, context) -> {
        if (context.lease().attempt() > 1) {
          return "second";
        }
        begun.countDown();
        while (goOn.getCount() > 0) {
          try {
            goOn.await();
          } catch (InterruptedException e) {
            interrupted.complete(true);
          }
        }
        return "first, and late";
      };

  private Worker zombie(Timings timings) {
    return start(worker().concurrency(1).timings(timings).handle("work", Json.class, handler));
  }

  private Worker successor() {
    return start(worker().handle("work", Json.class, handler));
  }

  private void assertSecondAttemptStands(JobId id) {
    JobStatus job = await(id, JobState.SUCCEEDED);
    assertThat(result(id)).isEqualTo("\"second\"");
    assertThat(job.attempt()).isEqualTo(2);
    assertThat(job.crashes()).isEqualTo(1);
    assertThat(attempts(id)).containsExactly(AttemptOutcome.CRASHED, AttemptOutcome.SUCCEEDED);
    assertThat(timeline(id))
        .containsExactly("created", "processing", "requeued:stale", "processing", "done");
  }

  @Test
  void a_worker_that_lost_its_lease_interrupts_the_handler_and_its_result_is_rejected()
      throws Exception {
    JobId id = enqueue(Job.of("work"));
    Worker zombie = zombie(CALM);
    until(begun);
    takeAway(id);
    assertThat(interrupted.get(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Worker successor = successor();
    await(id, JobState.SUCCEEDED);
    assertThat(job(id).worker()).isEqualTo(successor.name());
    goOn.countDown();
    until(() -> zombie.metrics().value(Metrics.LATE_RESULTS) == 1);
    assertSecondAttemptStands(id);
  }

  @Test
  void the_result_of_a_worker_that_has_not_noticed_the_loss_is_rejected() {
    JobId id = enqueue(Job.of("work"));
    Worker zombie = zombie(RARE);
    until(begun);
    takeAway(id);
    successor();
    await(id, JobState.SUCCEEDED);
    goOn.countDown();
    until(() -> zombie.metrics().value(Metrics.LATE_RESULTS) == 1);
    assertThat(interrupted).isNotDone();
    assertSecondAttemptStands(id);
  }

  @Test
  void a_late_result_before_the_next_claim_is_rejected() {
    JobId id = enqueue(Job.of("work"));
    Worker zombie = zombie(RARE);
    until(begun);
    takeAway(id);
    goOn.countDown();
    until(() -> zombie.metrics().value(Metrics.LATE_RESULTS) == 1);
    assertSecondAttemptStands(id);
  }

  @Test
  void an_event_without_a_lease_is_rejected_and_stops_the_handler() throws Exception {
    CompletableFuture<Throwable> refused = new CompletableFuture<>();
    JobId id = enqueue(Job.of("telling"));
    start(
        worker()
            .timings(RARE)
            .handle(
                "telling",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    takeAway(context.id());
                    try {
                      context.event("late", "");
                    } catch (LeaseLostException e) {
                      refused.complete(e);
                      assertThat(context.isCancelled()).isTrue();
                      throw e;
                    }
                  }
                  return "second";
                }));
    assertThat(refused.get(SOON.toSeconds(), TimeUnit.SECONDS)).hasMessageContaining(id + "#1");
    assertSecondAttemptStands(id);
  }

  @Test
  void a_progress_report_without_a_lease_stops_the_handler() {
    JobId id = enqueue(Job.of("reporting"));
    start(
        worker()
            .timings(RARE)
            .handle(
                "reporting",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    takeAway(context.id());
                    context.progress(50);
                    goOn.await();
                  }
                  return "second";
                }));
    assertSecondAttemptStands(id);
  }

  @Test
  @OnlyDirect("the server recovers jobs, and counts them")
  void the_job_of_a_dead_worker_is_recovered_by_another() {
    JobId id = enqueue(Job.of("work"));
    // Claimed by a worker that sends no heartbeat.
    assertThat(
            holdfast
                .jobs()
                .claim(
                    new ClaimRequest("default", 1, "worker:default:9@gone", Duration.ofMillis(300)))
                .jobs())
        .hasSize(1);
    try (CapturedLog log = new CapturedLog()) {
      Worker worker = start(worker().timings(SWEEPING).handle("work", Json.class, handler));
      assertSecondAttemptStands(id);
      until(() -> worker.metrics().value("worker.recovered_jobs_total{reason=\"stale\"}") == 1);
      assertThat(log.lines(Level.INFO, "reaped job " + id + "#1 of worker worker:default:9@gone"))
          .hasSize(1);
    }
  }

  @Test
  void a_job_claimed_by_another_between_claim_and_start_is_skipped() {
    Timings brief =
        new Timings(
            Duration.ofMillis(100), Duration.ofMillis(200), Duration.ZERO, Duration.ofSeconds(1));
    List<Integer> ran = new CopyOnWriteArrayList<>();
    JobId id = enqueue(Job.of("work"));
    JobSource slow =
        new SlowClaims(
            source(holdfast),
            () -> {
              TimeUnit.MILLISECONDS.sleep(brief.lease().toMillis());
              takeAway(id);
              holdfast
                  .jobs()
                  .claim(
                      new ClaimRequest(
                          "default", 1, "worker:default:9@thief", Duration.ofHours(1)));
            });
    Worker worker =
        start(
            new WorkerBuilder(slow, null, new JacksonCodec(), List.of("default"), kind -> {})
                .timings(brief)
                .shutdownTimeout(Duration.ZERO)
                .handle(
                    "work", Json.class, (payload, context) -> ran.add(context.lease().attempt())));
    until(() -> worker.metrics().value(Metrics.DUPLICATE_SKIPS) == 1);
    until(() -> worker.metrics().value(Metrics.INFLIGHT) == 0);
    assertThat(ran).isEmpty();
    assertThat(job(id).worker()).isEqualTo("worker:default:9@thief");
  }
}
