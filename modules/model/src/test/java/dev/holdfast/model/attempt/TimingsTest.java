package dev.holdfast.model.attempt;

import static dev.holdfast.model.value.Refusals.assertRefused;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.model.value.Refusal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimingsTest {
  @Test
  void the_defaults_are_those_of_the_specification() {
    assertThat(Timings.DEFAULT)
        .isEqualTo(new Timings(ofSeconds(10), ofSeconds(30), Duration.ZERO, ofSeconds(30)));
    assertThat(Timings.DEFAULT.sweep()).isEqualTo(ofSeconds(5));
  }

  @ParameterizedTest
  @CsvSource({"development,10,60", "production,30,300", "high-reliability,15,180"})
  void a_preset_sets_heartbeat_and_lease(String name, int heartbeat, int lease) {
    Timings timings = Timings.preset(name);
    assertThat(timings.heartbeat()).isEqualTo(ofSeconds(heartbeat));
    assertThat(timings.lease()).isEqualTo(ofSeconds(lease));
    assertThat(timings.reapGrace()).isZero();
    assertThat(timings.cancelGrace()).isEqualTo(ofSeconds(30));
  }

  @Test
  void a_preset_name_is_case_insensitive_and_an_unknown_one_lists_the_known() {
    assertThat(Timings.preset("PRODUCTION")).isEqualTo(Timings.preset("production"));
    assertRefused(Refusal.BAD_TIMING, () -> Timings.preset("prod"))
        .hasMessage(
            "timing preset 'prod' is unknown: choose development, production or high-reliability");
  }

  @Test
  void the_lease_follows_the_heartbeat_unless_given() {
    assertThat(Timings.every(ofMillis(200)).lease()).isEqualTo(ofMillis(600));
    assertThat(Timings.every(ofMillis(200)).withLease(ofSeconds(2)).lease())
        .isEqualTo(ofSeconds(2));
    assertThat(Timings.DEFAULT.withReapGrace(ofSeconds(3)).reapGrace()).isEqualTo(ofSeconds(3));
    assertThat(Timings.DEFAULT.withCancelGrace(ofSeconds(3)).cancelGrace()).isEqualTo(ofSeconds(3));
  }

  @Test
  void a_lease_shorter_than_two_heartbeats_is_refused() {
    assertRefused(Refusal.BAD_TIMING, () -> Timings.DEFAULT.withLease(ofSeconds(19)))
        .hasMessage(
            "LEASE_TIMEOUT_SEC is 19.0 s: it must be at least twice HEARTBEAT_INTERVAL_SEC (10.0 s)");
    assertThat(Timings.DEFAULT.withLease(ofSeconds(20)).lease()).isEqualTo(ofSeconds(20));
  }

  @Test
  void a_duration_that_is_not_positive_or_too_long_is_refused_by_name() {
    assertRefused(Refusal.BAD_TIMING, () -> Timings.every(Duration.ZERO))
        .hasMessageStartingWith("HEARTBEAT_INTERVAL_SEC is 0.0 s");
    assertRefused(Refusal.BAD_TIMING, () -> Timings.DEFAULT.withLease(ofSeconds(-1)))
        .hasMessageStartingWith("LEASE_TIMEOUT_SEC is -1.0 s");
    assertRefused(Refusal.BAD_TIMING, () -> Timings.DEFAULT.withReapGrace(ofMillis(-500)))
        .hasMessageStartingWith("HOLDFAST_TIMINGS_REAP_GRACE is -0.5 s");
    assertRefused(Refusal.BAD_TIMING, () -> Timings.DEFAULT.withCancelGrace(Duration.ZERO))
        .hasMessageStartingWith("CANCEL_GRACE_SEC is 0.0 s");
    assertRefused(Refusal.BAD_TIMING, () -> Timings.DEFAULT.withLease(ofSeconds(Long.MAX_VALUE)))
        .hasMessageContaining("a year at most");
  }
}
