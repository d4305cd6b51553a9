package dev.holdfast.worker.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.worker.ManualNanos;
import dev.holdfast.worker.source.MemorySource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ScheduleFiringTest {
  private static final Duration SWEEP = Duration.ofSeconds(5);

  private final ManualNanos nanos = new ManualNanos();
  private final MemorySource source = new MemorySource();
  private int sweeps;
  private final ScheduleFiring firing =
      new ScheduleFiring(
          source,
          () -> {
            sweeps++;
            return SWEEP;
          },
          nanos);

  @Test
  void without_schedules_it_runs_as_often_as_the_sweep() {
    assertThat(firing.runOnce()).isEqualTo(SWEEP);
    nanos.advance(SWEEP);
    assertThat(firing.runOnce()).isEqualTo(SWEEP);
    assertThat(sweeps).isEqualTo(2);
    assertThat(source.calls("fireSchedules")).isEqualTo(2);
  }

  @Test
  void a_schedule_that_is_due_before_the_next_sweep_is_fired_on_time_without_one() {
    source.nextSchedule = Duration.ofSeconds(1);
    assertThat(firing.runOnce()).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1_050));
    nanos.advance(Duration.ofMillis(1_050));
    assertThat(firing.runOnce()).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1_050));
    assertThat(sweeps).isEqualTo(1);
    assertThat(source.calls("fireSchedules")).isEqualTo(2);
  }

  @Test
  void a_schedule_that_is_due_later_does_not_delay_the_sweep() {
    source.nextSchedule = Duration.ofHours(1);
    assertThat(firing.runOnce()).isEqualTo(SWEEP);
  }

  @Test
  void while_the_source_is_unreachable_the_next_sweep_tries_again() {
    source.unavailable = true;
    assertThat(firing.runOnce()).isEqualTo(SWEEP);
  }
}
