package dev.holdfast.model.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OutageTest {
  // A clock that overflows, as that of a long-running machine may.
  private long now = Long.MAX_VALUE - Duration.ofSeconds(5).toNanos();
  private final Outage outage = new Outage(() -> now);

  private long pass(int seconds) {
    now += Duration.ofSeconds(seconds).toNanos();
    return now;
  }

  @Test
  void its_begin_and_its_end_are_reported_once() {
    assertThat(outage.ends(now)).isEmpty();
    assertThat(outage.begins(now)).isTrue();
    assertThat(outage.begins(pass(3))).isFalse();
    assertThat(outage.ends(pass(4))).contains(Duration.ofSeconds(7));
    assertThat(outage.ends(pass(1))).isEmpty();
    assertThat(outage.begins(pass(60))).isTrue();
  }

  @Test
  void a_call_that_began_before_changes_nothing() {
    long before = now;
    assertThat(outage.begins(pass(1))).isTrue();
    assertThat(outage.ends(before)).isEmpty();
    long during = pass(1);
    assertThat(outage.ends(pass(1))).isPresent();
    pass(60);
    assertThat(outage.begins(during)).isFalse();
    assertThat(outage.begins(now)).isTrue();
  }

  @Test
  void an_intermittent_outage_is_not_reported_every_time() {
    assertThat(outage.begins(now)).isTrue();
    assertThat(outage.ends(pass(1))).isPresent();
    assertThat(outage.begins(pass(1))).isFalse();
    assertThat(outage.ends(pass(1))).isEmpty();
    // One that lasts is reported.
    assertThat(outage.begins(pass(20))).isTrue();
  }
}
