package dev.holdfast.server.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {
  private final AtomicLong nanos = new AtomicLong();
  private final CircuitBreaker breaker = new CircuitBreaker(nanos::get);

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private void fail(int times) {
    for (int i = 0; i < times; i++) {
      breaker.failed("task " + i);
    }
  }

  @Test
  void fewer_failures_in_a_row_than_the_threshold_do_not_open_it() {
    fail(4);
    assertThat(breaker.admits(10)).isEqualTo(10);
    breaker.succeeded();
    fail(4);
    assertThat(breaker.admits(10)).isEqualTo(10);
  }

  @Test
  void repeated_failures_of_a_few_tasks_do_not_open_it() {
    for (int i = 0; i < 100; i++) {
      breaker.failed("task " + i % 4);
    }
    assertThat(breaker.isOpen()).isFalse();
    assertThat(breaker.admits(10)).isEqualTo(10);
  }

  @Test
  void an_undecided_trial_lets_another_follow_at_once() {
    fail(5);
    pass(Duration.ofSeconds(1));
    breaker.begun();
    breaker.undecided();
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.admits(10)).isEqualTo(1);
  }

  @Test
  void too_many_failures_in_a_row_open_it_and_later_one_trial_is_admitted() {
    fail(5);
    assertThat(breaker.isOpen()).isTrue();
    assertThat(breaker.admits(10)).isZero();
    pass(Duration.ofSeconds(1));
    assertThat(breaker.admits(10)).isEqualTo(1);
    breaker.begun();
    assertThat(breaker.admits(10)).isZero();
    breaker.succeeded();
    assertThat(breaker.admits(10)).isEqualTo(10);
  }

  @Test
  void each_failed_trial_lengthens_the_pause_up_to_a_minute() {
    fail(5);
    Duration pause = Duration.ofSeconds(1);
    for (int i = 0; i < 10; i++) {
      pass(pause.minusMillis(1));
      assertThat(breaker.admits(1)).as("after %s", pause).isZero();
      pass(Duration.ofMillis(1));
      assertThat(breaker.admits(1)).as("after %s", pause).isEqualTo(1);
      breaker.begun();
      breaker.failed("the single try");
      pause =
          pause.multipliedBy(2).compareTo(Duration.ofMinutes(1)) < 0
              ? pause.multipliedBy(2)
              : Duration.ofMinutes(1);
    }
  }
}
