package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
  @Test
  void the_defaults_are_ten_seconds_times_twelve_up_to_a_quarter_of_an_hour() {
    assertThat(RetryPolicy.DEFAULT).isEqualTo(new RetryPolicy(ofSeconds(10), 12.0, ofMinutes(15)));
  }

  @Test
  void by_default_the_last_attempt_comes_more_than_a_minute_after_the_first() {
    Random random = new Random(42);
    for (int i = 0; i < 1_000; i++) {
      Duration waited = Duration.ZERO;
      for (int failures = 0; failures < Job.DEFAULT_MAX_ATTEMPTS - 1; failures++) {
        waited = waited.plus(RetryPolicy.DEFAULT.next(failures, random));
      }
      assertThat(waited).isGreaterThan(ofMinutes(1));
    }
  }

  @Test
  void the_ceiling_grows_with_each_failure_up_to_the_maximum() {
    RetryPolicy policy = new RetryPolicy(ofSeconds(2), 2.0, ofMinutes(15));
    assertThat(policy.ceiling(1)).isEqualTo(ofSeconds(2));
    assertThat(policy.ceiling(2)).isEqualTo(ofSeconds(4));
    assertThat(policy.ceiling(5)).isEqualTo(ofSeconds(32));
    assertThat(policy.ceiling(10)).isEqualTo(ofMinutes(15));
    assertThat(policy.ceiling(Integer.MAX_VALUE)).isEqualTo(ofMinutes(15));
  }

  @Test
  void a_count_below_one_means_the_first_failure() {
    assertThat(RetryPolicy.DEFAULT.ceiling(0)).isEqualTo(ofSeconds(10));
    assertThat(RetryPolicy.DEFAULT.ceiling(-5)).isEqualTo(ofSeconds(10));
  }

  @Test
  void the_delay_is_between_half_the_ceiling_and_the_ceiling() {
    RetryPolicy policy = new RetryPolicy(ofMillis(10), 2.0, ofMillis(40));
    Random random = new Random(42);
    boolean[] seen = new boolean[21];
    for (int i = 0; i < 10_000; i++) {
      Duration delay = policy.next(2, random);
      assertThat(delay).isBetween(ofMillis(20), ofMillis(40));
      seen[Math.toIntExact(delay.toMillis() - 20)] = true;
    }
    assertThat(seen).doesNotContain(false);
  }

  @Test
  void the_policy_none_has_no_delay() {
    assertThat(RetryPolicy.NONE.next(7, new Random(1))).isZero();
    assertThat(new RetryPolicy(Duration.ZERO, 100, ofSeconds(1)).ceiling(Integer.MAX_VALUE))
        .isZero();
  }

  @Test
  void invalid_values_are_refused() {
    assertRefused(Refusal.BAD_TIMING, () -> new RetryPolicy(ofSeconds(-1), 2, ofSeconds(1)));
    assertRefused(Refusal.BAD_TIMING, () -> new RetryPolicy(ofSeconds(2), 2, ofSeconds(1)))
        .hasMessageContaining("PT2S")
        .hasMessageContaining("PT1S");
    assertRefused(Refusal.BAD_TIMING, () -> new RetryPolicy(ofSeconds(1), 0.5, ofSeconds(1)));
    assertRefused(
        Refusal.BAD_TIMING, () -> new RetryPolicy(ofSeconds(1), Double.NaN, ofSeconds(1)));
    assertRefused(
        Refusal.BAD_TIMING, () -> new RetryPolicy(ofSeconds(1), 2, ofSeconds(Long.MAX_VALUE)));
  }
}
