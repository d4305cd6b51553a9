package dev.holdfast.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AttemptClockTest {
  private final AtomicLong nanos = new AtomicLong(1_000);
  private final AttemptClock clock = new AttemptClock(nanos::get);

  @Test
  void activity_resets_the_idle_clock_but_not_the_run_clock() {
    nanos.addAndGet(100);
    clock.alive();
    nanos.addAndGet(10);
    assertThat(clock.silentFor()).isEqualTo(10);
    assertThat(clock.ranFor()).isEqualTo(110);
  }

  @Test
  void both_clocks_stand_still_while_stopped() {
    nanos.addAndGet(100);
    clock.pause();
    nanos.addAndGet(1_000_000);
    assertThat(clock.silentFor()).isEqualTo(100);
    assertThat(clock.ranFor()).isEqualTo(100);
    clock.resume();
    assertThat(clock.silentFor()).as("the program starts again").isZero();
    nanos.addAndGet(7);
    assertThat(clock.silentFor()).isEqualTo(7);
    assertThat(clock.ranFor()).isEqualTo(107);
  }

  @Test
  void nested_stops_end_with_the_last_go() {
    clock.pause();
    clock.pause();
    nanos.addAndGet(50);
    clock.resume();
    nanos.addAndGet(50);
    assertThat(clock.ranFor()).isZero();
    clock.resume();
    nanos.addAndGet(5);
    assertThat(clock.ranFor()).isEqualTo(5);
  }

  @Test
  void activity_that_is_noticed_late_counts_from_when_it_happened() {
    nanos.addAndGet(100);
    clock.aliveBefore(Duration.ofNanos(30));
    assertThat(clock.silentFor()).isEqualTo(30);
    clock.aliveBefore(Duration.ofNanos(80));
    assertThat(clock.silentFor()).as("an older one changes nothing").isEqualTo(30);
  }
}
