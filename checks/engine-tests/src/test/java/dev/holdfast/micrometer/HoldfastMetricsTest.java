package dev.holdfast.micrometer;

import static dev.holdfast.testkit.Soon.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.JacksonCodec;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.JobStore;
import dev.holdfast.testkit.DatabaseExtension;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.handler.JobContext;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(DatabaseExtension.class)
class HoldfastMetricsTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private HoldfastMetrics metrics;
  private Holdfast holdfast;

  @BeforeEach
  protected void open(TestDatabase database) {
    // region setup
    metrics = new HoldfastMetrics(registry);
    holdfast =
        Holdfast.on(
            database.dataSource(), new JacksonCodec(), JobStore.Options.DEFAULT.observer(metrics));
    metrics.queues(holdfast);
    // endregion
  }

  @AfterEach
  void close() {
    holdfast.close();
  }

  private void scrape() {
    registry.getMeters().forEach(meter -> meter.measure().forEach(Measurement::getValue));
  }

  private Set<String> names() {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .map(Meter.Id::getName)
        .collect(Collectors.toSet());
  }

  @Test
  void run_and_wait_times_and_outcomes_are_recorded_by_kind_and_queue() {
    holdfast.enqueue(
        List.of(
            Job.of("mail").queue("fast"),
            Job.of("mail").queue("fast"),
            Job.of("mail").queue("slow"),
            Job.of("bad").queue("fast").maxAttempts(2)));

    metrics
        .worker(holdfast.worker("fast", "slow"))
        .handle("mail", Json.class, (payload, context) -> null)
        .handle(
            "bad",
            Json.class,
            RetryPolicy.NONE,
            (payload, context) -> {
              throw new IllegalStateException("bad");
            })
        .drain();

    Map<String, Long> expected = Map.of("mail fast", 2L, "mail slow", 1L, "bad fast", 2L);
    for (String name : List.of("holdfast.worker.run", "holdfast.worker.queue_wait")) {
      assertThat(
              registry.find(name).timers().stream()
                  .collect(
                      Collectors.toMap(
                          timer ->
                              timer.getId().getTag("kind") + " " + timer.getId().getTag("queue"),
                          Timer::count)))
          .as(name)
          .isEqualTo(expected);
    }
    Timer run = registry.get("holdfast.worker.run").tag("kind", "bad").timer();
    assertThat(run.takeSnapshot().histogramCounts())
        .extracting(bucket -> Duration.ofNanos((long) bucket.bucket()))
        .contains(Duration.ofMillis(10), Duration.ofHours(1));
    assertThat(run.totalTime(TimeUnit.NANOSECONDS)).isPositive();
    assertThat(
            registry.find("holdfast.worker.attempts_total").counters().stream()
                .collect(
                    Collectors.toMap(
                        each ->
                            String.join(
                                " ",
                                each.getId().getTag("kind"),
                                each.getId().getTag("queue"),
                                each.getId().getTag("outcome")),
                        each -> (int) each.count())))
        .isEqualTo(
            Map.of("mail fast succeeded", 2, "mail slow succeeded", 1, "bad fast failed", 2));
  }

  @Test
  void worker_metrics_have_their_documented_names_with_a_prefix() {
    holdfast.enqueue(Job.of("bad").maxAttempts(2));
    metrics
        .worker(holdfast.worker("default"))
        .handle(
            "bad",
            Json.class,
            RetryPolicy.NONE,
            (payload, context) -> {
              throw new IllegalStateException("bad");
            })
        .drain();
    // A name that came up later is registered when others are read.
    Awaitility.await()
        .atMost(SOON)
        .ignoreException(MeterNotFoundException.class)
        .untilAsserted(
            () -> {
              scrape();
              assertThat(registry.get("holdfast.worker.inflight_jobs").gauge().value()).isZero();
              assertThat(
                      registry
                          .get("holdfast.worker.retry_attempts_total")
                          .tag("code", "HANDLER_FAILED")
                          .functionCounter()
                          .count())
                  .isEqualTo(1);
            });
    assertThat(names())
        .contains(
            "holdfast.worker.heartbeats_total",
            "holdfast.worker.late_results_total",
            "holdfast.worker.overdue_handlers",
            "holdfast.worker.claim")
        .allMatch(name -> name.startsWith("holdfast."));
  }

  @Test
  void statements_are_timed() {
    holdfast.enqueue(Job.of("mail"));
    assertThat(
            registry
                .get("holdfast.database.verb")
                .tag("verb", "enqueue")
                .tag("outcome", "ok")
                .timer()
                .count())
        .isEqualTo(1);
  }

  @Test
  void due_jobs_of_each_queue_are_read_when_the_gauge_is_read() {
    holdfast.enqueue(List.of(Job.of("mail").queue("a"), Job.of("mail").queue("a")));
    holdfast.enqueue(Job.of("mail").queue("b"));
    assertThat(registry.get("holdfast.queue.count").gauge().value()).isEqualTo(2);
    assertThat(registry.get("holdfast.queue.due_jobs").tag("queue", "a").gauge().value())
        .isEqualTo(2);
    assertThat(registry.get("holdfast.queue.running_jobs").tag("queue", "b").gauge().value())
        .isZero();
  }

  @Test
  void an_unreachable_database_is_not_reported_as_an_empty_queue(TestDatabase database)
      throws Exception {
    holdfast.close();
    ((AutoCloseable) database.dataSource()).close();
    assertThat(registry.get("holdfast.queue.count").gauge().value()).isNaN();
  }

  @Test
  void a_running_worker_is_measured() {
    // region worker
    Worker worker =
        metrics.worker(holdfast.worker("mail").handle("send-mail", Json.class, this::send)).start();
    // endregion
    try (worker) {
      holdfast.enqueue(Job.of("send-mail").queue("mail"));
      Awaitility.await()
          .atMost(SOON)
          .until(() -> !registry.find("holdfast.worker.attempts_total").counters().isEmpty());
    }
  }

  private @Nullable Object send(Json mail, JobContext context) {
    return null;
  }
}
