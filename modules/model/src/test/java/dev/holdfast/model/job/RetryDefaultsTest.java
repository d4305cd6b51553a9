package dev.holdfast.model.job;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.job.RetryDefaults.Retries;
import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RetryDefaultsTest {
  private static final RetryPolicy OF_KIND = new RetryPolicy(Duration.ofSeconds(1), 1, ofHour());
  private static final RetryPolicy OF_QUEUE = new RetryPolicy(Duration.ofSeconds(2), 1, ofHour());
  private static final RetryPolicy OF_ALL = new RetryPolicy(Duration.ofSeconds(3), 1, ofHour());
  private static final RetryDefaults DEFAULTS =
      new RetryDefaults(
          new Retries(4, OF_ALL),
          Map.of("mail", new Retries(6, OF_KIND), "half", new Retries(null, OF_KIND)),
          Map.of("slow", new Retries(5, OF_QUEUE)));

  private static Duration ofHour() {
    return Duration.ofHours(1);
  }

  @Test
  void kind_overrides_queue_and_queue_overrides_the_general_default() {
    assertThat(DEFAULTS.maxAttempts("mail", "slow")).isEqualTo(6);
    assertThat(DEFAULTS.policy("mail", "slow")).isEqualTo(OF_KIND);
    assertThat(DEFAULTS.maxAttempts("other", "slow")).isEqualTo(5);
    assertThat(DEFAULTS.policy("other", "slow")).isEqualTo(OF_QUEUE);
    assertThat(DEFAULTS.maxAttempts("other", "other")).isEqualTo(4);
    assertThat(DEFAULTS.policy("other", "other")).isEqualTo(OF_ALL);
  }

  @Test
  void fields_not_set_for_the_kind_come_from_the_queue() {
    assertThat(DEFAULTS.maxAttempts("half", "slow")).isEqualTo(5);
    assertThat(DEFAULTS.policy("half", "slow")).isEqualTo(OF_KIND);
  }

  @Test
  void without_settings_there_are_three_attempts_and_the_default_policy() {
    assertThat(RetryDefaults.NONE.maxAttempts("mail", "slow")).isEqualTo(3);
    assertThat(RetryDefaults.NONE.policy("mail", "slow")).isEqualTo(RetryPolicy.DEFAULT);
  }

  @Test
  void settings_of_the_job_take_precedence() {
    assertThat(DEFAULTS.applied(Job.of("mail")).maxAttempts()).isEqualTo(6);
    assertThat(DEFAULTS.applied(Job.of("mail").maxAttempts(9)).maxAttempts()).isEqualTo(9);
  }

  @Test
  void invalid_values_are_refused() {
    assertRefused(Refusal.BAD_BUDGET, () -> new Retries(0, null));
    assertRefused(
        Refusal.BAD_NAME,
        () -> new RetryDefaults(Retries.UNSET, Map.of(), Map.of("a queue", Retries.UNSET)));
  }
}
