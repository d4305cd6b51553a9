package dev.holdfast.model.value;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JitterTest {
  @Test
  void delays_are_in_their_range_and_differ() {
    Set<Duration> seen = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      assertThat(Jitter.upperHalf(ofMillis(40))).isBetween(ofMillis(20), ofMillis(40));
      assertThat(Jitter.aroundHalf(ofMillis(40))).isBetween(ofMillis(20), ofMillis(60));
      Duration wait = Jitter.aroundQuarter(ofMillis(40));
      assertThat(wait).isBetween(ofMillis(30), ofMillis(50));
      seen.add(wait);
    }
    assertThat(seen).hasSizeGreaterThan(100);
  }

  @Test
  void a_zero_delay_stays_zero() {
    assertThat(Jitter.upperHalf(Duration.ZERO)).isZero();
    assertThat(Jitter.aroundHalf(Duration.ZERO)).isZero();
    assertThat(Jitter.aroundQuarter(Duration.ZERO)).isZero();
  }
}
