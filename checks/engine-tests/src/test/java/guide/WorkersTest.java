package guide;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.WorkerBuilder;
import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.config.Backpressure;
import dev.holdfast.worker.config.LoadSource;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Workers, backpressure, listeners and metrics. */
class WorkersTest extends Guide {
  record Render(boolean endless) {}

  private final CountDownLatch begun = new CountDownLatch(1);

  private Object render(Render render, JobContext context) throws InterruptedException {
    if (render.endless()) {
      begun.countDown();
      new CountDownLatch(1).await();
    }
    return "rendered";
  }

  private Object charge(Charge charge, JobContext context) {
    return charge.cents();
  }

  @Test
  void a_worker_serves_its_queues_and_releases_jobs_it_cannot_finish() throws Exception {
    JobId render = enqueue(Job.of("render", new Render(false)).queue("media"));
    JobId charge = enqueue(Job.of("charge", new Charge("ada", 4_200)));
    JobId unknown = enqueue(Job.of("nobody-knows-this"));
    JobId endless = enqueue(Job.of("render", new Render(true)).queue("media"));
    // region worker
    Worker worker =
        holdfast
            .worker("media", "default")
            .handle("render", Render.class, this::render)
            .handle(Kind.of("charge", Charge.class, this::charge).strictly())
            .concurrency(50)
            .timings(Timings.preset("production"))
            .shutdownTimeout(Duration.ofSeconds(20))
            .start();
    // endregion
    try {
      await(render, JobState.SUCCEEDED);
      await(charge, JobState.SUCCEEDED);
      Awaitility.await().atMost(SOON).until(() -> !holdfast.queries().attempts(unknown).isEmpty());
      assertThat(holdfast.queries().find(unknown).orElseThrow().failures()).isZero();
      begun.await();
      assertThat(worker.name()).startsWith("worker:media:0@");
    } finally {
      worker.stop(Duration.ZERO);
    }
    assertThat(state(endless)).isEqualTo(JobState.PENDING);
    assertThat(timeline(endless)).contains("aborted:shutdown");
    assertThat(status(endless).failures()).isZero();
    assertThat(status(endless).crashes()).isZero();
  }

  @Test
  void a_second_handler_for_a_kind_is_refused() {
    WorkerBuilder builder = holdfast.worker("any").handle("charge", Charge.class, this::charge);
    assertThatThrownBy(() -> builder.handle("charge", Charge.class, this::charge))
        .hasMessageContaining("two handlers");
  }

  @Test
  void a_busy_machine_with_a_short_queue_does_not_pause_claims() {
    JobId charge = enqueue(Job.of("charge", new Charge("ada", 1)).queue("short"));
    try (Worker worker =
        holdfast
            .worker("short")
            .handle("charge", Charge.class, this::charge)
            // region backpressure
            .backpressure(
                new Backpressure.Settings(
                    1_000L, 0.9, Duration.ofSeconds(5), LoadSource.ofThisMachine()))
            // endregion
            .start()) {
      await(charge, JobState.SUCCEEDED);
      assertThat(worker.metrics().value(Metrics.PAUSES)).isZero();
    }
  }

  @Test
  void a_busy_machine_with_a_long_queue_pauses_claims() {
    List<Job> jobs =
        Stream.generate(() -> Job.of("charge", new Charge("ada", 1)).queue("long"))
            .limit(1_001)
            .toList();
    holdfast.enqueue(jobs);
    try (Worker worker =
        holdfast
            .worker("long")
            .handle("charge", Charge.class, this::charge)
            .backpressure(new Backpressure.Settings(1_000L, 0.9, Duration.ofHours(1), () -> 1.0))
            .start()) {
      until(() -> worker.metrics().value(Metrics.PAUSES) == 1);
      assertThat(state(jobs.getFirst().id())).isEqualTo(JobState.PENDING);
    }
  }

  @Test
  void a_listener_is_called_with_a_late_result() {
    JobId id = enqueue(Job.of("late").queue("late"));
    WorkerBuilder builder =
        holdfast
            .worker("late")
            // region listener
            .listener(
                new JobListener() {
                  @Override
                  public void settled(LeasedJob job, Settlement settlement, Ack ack) {
                    if (ack == Ack.LEASE_LOST) {
                      log.warn("late result of {}", job.id());
                    }
                  }
                })
            // endregion
            .handle(
                "late",
                Json.class,
                (payload, context) -> {
                  if (context.lease().attempt() == 1) {
                    takeAway(context.id());
                  }
                  return null;
                });
    List<String> logged =
        logged(
            () -> {
              try (Worker worker = builder.start()) {
                await(id, JobState.SUCCEEDED);
                until(() -> worker.metrics().value(Metrics.LATE_RESULTS) == 1);
                assertThat(worker.metrics().snapshot())
                    .containsEntry("worker.late_results_total", 1.0);
              }
            });
    assertThat(logged).containsExactly("late result of " + id);
  }

  @Test
  void a_middleware_runs_around_handlers() {
    JobId id = enqueue(Job.of("render", new Render(false)).queue("around"));
    WorkerBuilder worker =
        holdfast
            .worker("around")
            .handle("render", Render.class, this::render)
            // region middleware
            .around(
                (context, next) -> {
                  long start = System.nanoTime();
                  try {
                    return next.run();
                  } finally {
                    log.info("{} ran for {} ns", context.job().kind(), System.nanoTime() - start);
                  }
                });
    // endregion
    worker.drain();
    assertThat(state(id)).isEqualTo(JobState.SUCCEEDED);
  }
}
