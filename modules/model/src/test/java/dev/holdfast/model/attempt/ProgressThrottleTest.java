package dev.holdfast.model.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProgressThrottleTest {
  private long nanos;
  private final ProgressThrottle throttle = new ProgressThrottle(() -> nanos);

  @Test
  void the_first_report_passes() {
    assertThat(throttle.lets(0)).isTrue();
  }

  @Test
  void one_percent_more_passes_at_once() {
    throttle.lets(10);
    assertThat(throttle.lets(11)).isTrue();
    assertThat(throttle.lets(40)).isTrue();
  }

  @Test
  void the_same_or_a_lower_percent_is_held_back_for_half_a_second() {
    throttle.lets(10);
    nanos += Duration.ofMillis(499).toNanos();
    assertThat(throttle.lets(10)).isFalse();
    assertThat(throttle.lets(3)).isFalse();
    nanos += Duration.ofMillis(1).toNanos();
    assertThat(throttle.lets(3)).isTrue();
  }

  @Test
  void the_half_second_counts_from_the_last_report_that_passed() {
    throttle.lets(10);
    nanos += Duration.ofMillis(300).toNanos();
    throttle.lets(11);
    nanos += Duration.ofMillis(300).toNanos();
    assertThat(throttle.lets(11)).isFalse();
  }

  @Test
  void a_message_without_a_percentage_passes_every_half_second() {
    assertThat(throttle.lets(null)).isTrue();
    assertThat(throttle.lets(null)).isFalse();
    assertThat(throttle.lets(0)).isTrue();
    assertThat(throttle.lets(null)).isFalse();
    nanos += Duration.ofMillis(500).toNanos();
    assertThat(throttle.lets(null)).isTrue();
    assertThat(throttle.lets(0)).isFalse();
  }

  @Test
  void the_final_hundred_passes_and_passes_once() {
    throttle.lets(99);
    assertThat(throttle.lets(100)).isTrue();
    assertThat(throttle.lets(100)).isFalse();
  }

  @Test
  void a_thousand_quick_calls_give_a_report_per_percent() {
    int passed = 0;
    for (int i = 0; i <= 1_000; i++) {
      passed += throttle.lets(i / 10) ? 1 : 0;
    }
    assertThat(passed).isEqualTo(101);
  }
}
