package dev.holdfast.steps;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VitalsTest {
  private final AtomicLong nanos = new AtomicLong(1_000);
  private final Vitals vitals = new Vitals(nanos::get);

  @Test
  void activity_resets_the_idle_clock_but_not_the_run_clock() {
    nanos.addAndGet(100);
    vitals.alive();
    nanos.addAndGet(10);
    assertThat(vitals.silentFor()).isEqualTo(10);
    assertThat(vitals.ranFor()).isEqualTo(110);
  }

  @Test
  void both_clocks_stand_still_while_stopped() {
    nanos.addAndGet(100);
    vitals.stop();
    nanos.addAndGet(1_000_000);
    assertThat(vitals.silentFor()).isEqualTo(100);
    assertThat(vitals.ranFor()).isEqualTo(100);
    vitals.go();
    assertThat(vitals.silentFor()).as("the program starts again").isZero();
    nanos.addAndGet(7);
    assertThat(vitals.silentFor()).isEqualTo(7);
    assertThat(vitals.ranFor()).isEqualTo(107);
  }

  @Test
  void nested_stops_end_with_the_last_go() {
    vitals.stop();
    vitals.stop();
    nanos.addAndGet(50);
    vitals.go();
    nanos.addAndGet(50);
    assertThat(vitals.ranFor()).isZero();
    vitals.go();
    nanos.addAndGet(5);
    assertThat(vitals.ranFor()).isEqualTo(5);
  }

  @Test
  void activity_that_is_noticed_late_counts_from_when_it_happened() {
    nanos.addAndGet(100);
    vitals.aliveBefore(Duration.ofNanos(30));
    assertThat(vitals.silentFor()).isEqualTo(30);
    vitals.aliveBefore(Duration.ofNanos(80));
    assertThat(vitals.silentFor()).as("an older one changes nothing").isEqualTo(30);
  }
}
