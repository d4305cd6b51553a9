package dev.holdfast.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The backoff of restarts after crashes, and their limits. */
class RestartsTest {
  private static final RestartPolicy POLICY = RestartPolicy.DEFAULT;

  private final Restarts restarts = new Restarts(POLICY);
  private long now;

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private Restarts.Next crash() {
    Restarts.Next next = restarts.afterCrash(now);
    if (next instanceof Restarts.Next.In(Duration delay)) {
      pass(delay);
      restarts.restarted(now);
    }
    return next;
  }

  @Test
  void each_backoff_is_twice_the_one_before_and_a_minute_at_most() {
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waits.add(POLICY.delay(i).toSeconds());
    }
    assertThat(waits).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
    assertThat(POLICY.delay(1_000_000)).isEqualTo(Duration.ofSeconds(60));
  }

  @Test
  void the_backoff_also_grows_for_crashes_far_apart() {
    List<Restarts.Next> next = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      next.add(crash());
      pass(Duration.ofMinutes(2));
    }
    assertThat(next).containsExactly(in(1), in(2), in(4), in(8), in(16), in(32), in(60), in(60));
  }

  private static Restarts.Next in(int seconds) {
    return new Restarts.Next.In(Duration.ofSeconds(seconds));
  }

  @Test
  void after_five_restarts_within_five_minutes_there_is_no_other() {
    for (int i = 0; i < 5; i++) {
      assertThat(crash()).isInstanceOf(Restarts.Next.In.class);
    }
    assertThat(crash()).isEqualTo(new Restarts.Next.GiveUp("5 restarts within 5 minutes"));
    assertThat(restarts.count()).isEqualTo(5);
  }

  @Test
  void after_the_window_another_restart_is_allowed_but_the_count_stays() {
    for (int i = 0; i < 5; i++) {
      crash();
    }
    pass(Duration.ofMinutes(5));
    assertThat(crash()).isEqualTo(in(32));
    assertThat(restarts.count()).isEqualTo(6);
  }

  @Test
  void after_twenty_restarts_in_total_however_far_apart_and_healthy_between_there_is_no_other() {
    for (int i = 0; i < 20; i++) {
      assertThat(crash()).isEqualTo(in(1));
      pass(Duration.ofMinutes(30));
      assertThat(restarts.resetIfHealthy(Duration.ofMinutes(30))).isTrue();
    }
    assertThat(restarts.total()).isEqualTo(20);
    assertThat(crash()).isEqualTo(new Restarts.Next.GiveUp("20 restarts in total"));
    assertThat(crash()).isEqualTo(new Restarts.Next.GiveUp("20 restarts in total"));
  }

  @Test
  void five_healthy_minutes_reset_the_backoff_and_not_the_total() {
    for (int i = 0; i < 4; i++) {
      crash();
    }
    assertThat(restarts.resetIfHealthy(Duration.ofSeconds(299))).isFalse();
    assertThat(restarts.count()).isEqualTo(4);
    assertThat(restarts.resetIfHealthy(Duration.ofMinutes(5))).isTrue();
    assertThat(restarts.count()).isZero();
    assertThat(restarts.resetIfHealthy(Duration.ofMinutes(5))).isFalse();
    assertThat(restarts.total()).isEqualTo(4);
    assertThat(crash()).isEqualTo(in(1));
    assertThat(restarts.total()).isEqualTo(5);
  }

  @Test
  void a_restart_by_an_operator_resets_all_counts() {
    for (int i = 0; i < 6; i++) {
      crash();
    }
    assertThat(crash()).isInstanceOf(Restarts.Next.GiveUp.class);
    restarts.reset();
    assertThat(restarts.total()).isZero();
    assertThat(crash()).isEqualTo(in(1));
  }
}
