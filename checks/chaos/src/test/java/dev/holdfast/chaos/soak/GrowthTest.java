package dev.holdfast.chaos.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GrowthTest {
  private static Growth over(int samples, IntToLongFunction value) {
    Growth growth = new Growth(10);
    IntStream.range(0, samples).forEach(i -> growth.add("server", value.applyAsLong(i)));
    return growth;
  }

  @Test
  void what_grows_all_the_time_has_grown() {
    assertThat(over(100, i -> 100 + i).grown()).containsExactly("server: 137, later 187");
  }

  @Test
  void what_stays_or_falls_or_jumps_for_a_moment_has_not_grown() {
    assertThat(over(100, i -> 100).grown()).isEmpty();
    assertThat(over(100, i -> 200 - i).grown()).isEmpty();
    assertThat(over(100, i -> i % 10 == 0 ? 1_000 : 100).grown()).isEmpty();
  }

  @Test
  void what_grows_in_the_first_quarter_only_has_not_grown() {
    assertThat(over(100, i -> Math.min(i, 25) * 10).grown()).isEmpty();
  }

  @Test
  void a_single_sample_is_no_growth() {
    assertThat(over(1, i -> 100).grown()).isEmpty();
  }
}
