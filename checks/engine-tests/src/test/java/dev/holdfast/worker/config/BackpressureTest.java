package dev.holdfast.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.source.MemorySource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackpressureTest {
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final ManualNanos nanos = new ManualNanos();
  private final MemorySource source = new MemorySource();
  private final Metrics metrics = new Metrics();
  private double load = 1.0;

  private Backpressure backpressure(@Nullable Long watermark) {
    return new Backpressure(
        new Backpressure.Settings(watermark, 0.8, PAUSE, () -> load),
        source,
        List.of("default"),
        metrics,
        nanos);
  }

  @ParameterizedTest(name = "{0} jobs, load {1}: pauses {2}")
  @CsvSource({
    "100, 0.80, false",
    "100, 0.81, false",
    "101, 0.80, false",
    "101, 0.81, true",
    "101, NaN,  false",
    "101, -1,   false",
    "9000, 1.0, true"
  })
  void it_pauses_only_above_both_the_watermark_and_the_threshold(
      long depth, double currentLoad, boolean pauses) {
    source.depth = depth;
    load = currentLoad;
    assertThat(backpressure(100L).pause()).isEqualTo(pauses ? PAUSE : Duration.ZERO);
    assertThat(metrics.value(Metrics.PAUSES)).isEqualTo(pauses ? 1 : 0);
  }

  @Test
  void a_pause_lasts_its_whole_interval_and_counts_once() {
    source.depth = 200;
    Backpressure backpressure = backpressure(100L);
    backpressure.pause();
    load = 0;
    nanos.advance(Duration.ofSeconds(2));
    assertThat(backpressure.pause()).isEqualTo(Duration.ofSeconds(3));
    nanos.advance(Duration.ofSeconds(3));
    assertThat(backpressure.pause()).isEqualTo(Duration.ZERO);
    assertThat(metrics.value(Metrics.PAUSES)).isEqualTo(1);
  }

  @Test
  void a_second_pause_follows_when_nothing_has_changed() {
    source.depth = 200;
    Backpressure backpressure = backpressure(100L);
    backpressure.pause();
    nanos.advance(PAUSE);
    assertThat(backpressure.pause()).isEqualTo(PAUSE);
    assertThat(metrics.value(Metrics.PAUSES)).isEqualTo(2);
  }

  @Test
  void the_queue_depth_is_not_read_on_an_idle_machine() {
    load = 0.5;
    backpressure(100L).pause();
    assertThat(source.calls).isEmpty();
  }

  @Test
  void without_a_watermark_it_never_pauses() {
    source.depth = Long.MAX_VALUE;
    assertThat(backpressure(null).pause()).isEqualTo(Duration.ZERO);
  }

  @Test
  void invalid_settings_are_refused_by_name() {
    assertThatThrownBy(() -> backpressure(-1L))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("HIGH_WATERMARK is -1");
    assertThatThrownBy(() -> new Backpressure.Settings(1L, 1.5, PAUSE, () -> 0))
        .hasMessageContaining("LOAD_THRESHOLD is 1.5");
    assertThatThrownBy(() -> new Backpressure.Settings(1L, Double.NaN, PAUSE, () -> 0))
        .hasMessageContaining("LOAD_THRESHOLD is NaN");
    assertThatThrownBy(() -> new Backpressure.Settings(1L, 0.5, Duration.ZERO, () -> 0))
        .hasMessageContaining("PAUSE_INTERVAL_SEC");
  }

  @Test
  void the_load_of_this_machine_is_between_zero_and_one_or_unknown() {
    LoadSource machine = LoadSource.ofThisMachine();
    machine.load();
    assertThat(machine.load())
        .satisfiesAnyOf(
            measured -> assertThat(measured).isBetween(0.0, 1.0),
            measured -> assertThat(measured).isNaN());
  }
}
