package dev.holdfast.worker.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MetricsTest {
  private final Metrics metrics = new Metrics();

  @Test
  void metrics_without_tags_are_present_from_the_start() {
    metrics.gauge(Metrics.INFLIGHT, () -> 3);
    assertThat(metrics.snapshot())
        .containsEntry("worker.inflight_jobs", 3.0)
        .containsEntry("worker.pauses_total", 0.0)
        .containsEntry("worker.heartbeats_total", 0.0)
        .containsEntry("worker.duplicate_skips_total", 0.0)
        .containsEntry("worker.atomic_acquire_fail_total", 0.0)
        .containsEntry("worker.late_results_total", 0.0)
        .containsEntry("worker.abandoned_handlers_total", 0.0)
        .containsEntry("worker.claim_seconds_count", 0.0)
        .containsEntry("worker.claim_seconds_sum", 0.0)
        .containsEntry("worker.run_seconds_count", 0.0)
        .containsEntry("worker.queue_wait_seconds_count", 0.0);
  }

  @Test
  void counters_count_and_timers_add_up() {
    metrics.count(Metrics.PAUSES, 2);
    metrics.count(Metrics.RETRIES, "code", "S3_\"DOWN\"", 1);
    metrics.time(Metrics.RUN_TIME, Duration.ofMillis(1_500));
    metrics.time(Metrics.RUN_TIME, Duration.ofMillis(500));
    assertThat(metrics.value(Metrics.PAUSES)).isEqualTo(2);
    assertThat(metrics.value("nothing of that name")).isZero();
    assertThat(metrics.snapshot())
        .containsEntry("worker.retry_attempts_total{code=\"S3_'DOWN'\"}", 1.0)
        .containsEntry("worker.run_seconds_count", 2.0)
        .containsEntry("worker.run_seconds_sum", 2.0);
  }

  @Test
  void the_number_of_distinct_codes_is_bounded() {
    for (int i = 0; i < 10_000; i++) {
      metrics.count(Metrics.RETRIES, "code", "CODE_" + i, 1);
    }
    metrics.count(Metrics.RETRIES, "code", "CODE_0", 1);
    assertThat(metrics.snapshot()).hasSizeLessThan(600);
    assertThat(metrics.value("worker.retry_attempts_total{code=\"other\"}")).isGreaterThan(9_000);
    assertThat(metrics.value("worker.retry_attempts_total{code=\"CODE_0\"}")).isEqualTo(2);
  }
}
