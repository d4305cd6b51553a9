package dev.holdfast.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.attempt.Samples;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerOptionsTest {
  private static WorkerOptions options(
      String worker, List<String> queues, int concurrency, Duration poll, Duration shutdown) {
    return new WorkerOptions(
        worker,
        queues,
        concurrency,
        Samples.TIMINGS,
        poll,
        shutdown,
        Backpressure.Settings.OFF,
        Samples.SCRATCH,
        Samples.STORE,
        Samples.HEALING,
        Duration.ZERO,
        WorkerOptions.DEFAULT_FAILURE_LOG);
  }

  private static void assertRefused(
      String part, String worker, List<String> queues, int places, Duration poll, Duration stop) {
    assertThatThrownBy(() -> options(worker, queues, places, poll, stop))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(part);
  }

  @Test
  void the_defaults_are_these() {
    assertThat(WorkerOptions.DEFAULT_CONCURRENCY).isEqualTo(10);
    assertThat(WorkerOptions.DEFAULT_POLL).isEqualTo(Duration.ofSeconds(1));
    assertThat(WorkerOptions.DEFAULT_SHUTDOWN_TIMEOUT).isEqualTo(Duration.ofSeconds(30));
    assertThat(Backpressure.Settings.OFF.highWatermark()).isNull();
    assertThat(Backpressure.Settings.OFF.loadThreshold()).isEqualTo(0.8);
    assertThat(Backpressure.Settings.OFF.pause()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void invalid_options_are_refused_with_what_would_be_valid() {
    Duration second = Duration.ofSeconds(1);
    List<String> queues = List.of("default");
    assertRefused("worker", " ", queues, 1, second, second);
    assertRefused("at least one queue", "w", List.of(), 1, second, second);
    assertRefused("queue 'no spaces'", "w", List.of("no spaces"), 1, second, second);
    assertRefused("MAX_CONCURRENCY is 0", "w", queues, 0, second, second);
    assertRefused("MAX_CONCURRENCY is 100001", "w", queues, 100_001, second, second);
    assertRefused("polling interval is PT0S", "w", queues, 1, Duration.ZERO, second);
    Duration ages = Duration.ofSeconds(Long.MAX_VALUE);
    assertRefused("a day at most", "w", queues, 1, ages, second);
    assertRefused("SHUTDOWN_TIMEOUT_SEC is PT-1S", "w", queues, 1, second, second.negated());
    assertRefused("a year at most", "w", queues, 1, second, ages);
  }
}
