package dev.holdfast.model.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CronTest {
  private static Instant next(String cron, String after, String zone) {
    return Cron.parse(cron).next(Instant.parse(after), ZoneId.of(zone)).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "* * * * *, 2026-03-01T10:00:00Z, 2026-03-01T10:01:00Z",
    "* * * * *, 2026-03-01T10:00:59.9Z, 2026-03-01T10:01:00Z",
    "*/15 * * * *, 2026-03-01T10:46:00Z, 2026-03-01T11:00:00Z",
    "0 9 * * mon-fri, 2026-03-06T09:00:00Z, 2026-03-09T09:00:00Z",
    "30 8 1 * *, 2026-03-01T08:30:00Z, 2026-04-01T08:30:00Z",
    "0 0 29 2 *, 2026-01-01T00:00:00Z, 2028-02-29T00:00:00Z",
    "0 12 13 * fri, 2026-03-01T00:00:00Z, 2026-03-06T12:00:00Z",
    "0 12 13 * 5, 2026-03-06T12:00:00Z, 2026-03-13T12:00:00Z",
    "'5-20/5 1 * jan,jul *', 2026-02-01T00:00:00Z, 2026-07-01T01:05:00Z",
    "0 0 * * 7, 2026-03-02T00:00:00Z, 2026-03-08T00:00:00Z",
    "@daily, 2026-12-31T00:00:00Z, 2027-01-01T00:00:00Z",
    "@hourly, 2026-12-31T23:00:00Z, 2027-01-01T00:00:00Z",
    "@midnight, 2026-12-31T23:00:00Z, 2027-01-01T00:00:00Z",
    "* * * * * *, 2026-03-01T10:00:00Z, 2026-03-01T10:00:01Z",
    "* * * * * *, 2026-03-01T23:59:59.5Z, 2026-03-02T00:00:00Z",
    "*/20 * * * * ?, 2026-03-01T10:00:40Z, 2026-03-01T10:01:00Z",
    "'30 15 10 * * ?', 2026-03-01T10:15:30Z, 2026-03-02T10:15:30Z",
    "'5,35 0 12 ? * mon', 2026-03-02T12:00:05Z, 2026-03-02T12:00:35Z",
    "0 0 L * *, 2026-02-01T00:00:00Z, 2026-02-28T00:00:00Z",
    "0 0 L * *, 2028-02-01T00:00:00Z, 2028-02-29T00:00:00Z",
    "0 0 L-2 * ?, 2026-04-01T00:00:00Z, 2026-04-28T00:00:00Z",
    "'0 0 15,L * ?', 2026-04-15T00:00:00Z, 2026-04-30T00:00:00Z",
    "0 18 ? * friL, 2026-03-01T00:00:00Z, 2026-03-27T18:00:00Z",
    "0 18 ? * 5L, 2026-05-01T00:00:00Z, 2026-05-29T18:00:00Z",
    "0 0 ? * 7L, 2026-05-01T00:00:00Z, 2026-05-31T00:00:00Z",
    "@every 30s, 2026-03-01T10:00:07.5Z, 2026-03-01T10:00:37.5Z",
    "@every 1d12h, 2026-03-01T10:00:00Z, 2026-03-02T22:00:00Z"
  })
  void the_next_fire_time_in_utc_is(String cron, String after, String expected) {
    assertThat(next(cron, after, "UTC")).isEqualTo(Instant.parse(expected));
  }

  @Test
  void a_fixed_time_is_local_to_the_zone() {
    assertThat(next("0 9 * * *", "2026-01-10T12:00:00Z", "America/New_York"))
        .isEqualTo(Instant.parse("2026-01-10T14:00:00Z"));
    assertThat(next("0 9 * * *", "2026-07-10T02:00:00Z", "Asia/Tokyo"))
        .isEqualTo(Instant.parse("2026-07-11T00:00:00Z"));
  }

  @Test
  void a_fixed_time_that_the_clock_skips_fires_when_the_gap_ends_and_only_once() {
    // Berlin, 29 March 2026: 02:00 becomes 03:00, which is 01:00 in UTC.
    Instant fired = next("30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin");
    assertThat(fired).isEqualTo(Instant.parse("2026-03-29T01:00:00Z"));
    assertThat(next("30 2 * * *", fired.toString(), "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-03-30T00:30:00Z"));
  }

  @Test
  void a_fixed_time_that_comes_twice_fires_the_first_time_only() {
    // Berlin, 25 October 2026: 03:00 becomes 02:00 again.
    Instant fired = next("30 2 * * *", "2026-10-24T12:00:00Z", "Europe/Berlin");
    assertThat(fired).isEqualTo(Instant.parse("2026-10-25T00:30:00Z"));
    assertThat(next("30 2 * * *", fired.toString(), "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-10-26T01:30:00Z"));
  }

  @Test
  void seconds_of_an_hour_that_the_clock_skips_fire_once_together() {
    Instant fired = next("*/10 30 2 * * *", "2026-03-28T12:00:00Z", "Europe/Berlin");
    assertThat(fired).isEqualTo(Instant.parse("2026-03-29T01:00:00Z"));
    assertThat(next("*/10 30 2 * * *", fired.toString(), "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-03-30T00:30:00Z"));
  }

  @Test
  void seconds_of_an_hour_that_comes_twice_fire_the_first_time_only() {
    Instant last = Instant.parse("2026-10-25T00:59:50Z");
    assertThat(next("*/10 * 2 * * *", last.minusSeconds(10).toString(), "Europe/Berlin"))
        .isEqualTo(last);
    assertThat(next("*/10 * 2 * * *", last.toString(), "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-10-26T01:00:00Z"));
  }

  @Test
  void the_last_day_of_a_month_is_that_of_the_zone() {
    assertThat(next("0 2 L * *", "2026-03-31T12:00:00Z", "Asia/Tokyo"))
        .isEqualTo(Instant.parse("2026-04-29T17:00:00Z"));
  }

  @Test
  void an_interval_is_elapsed_time_when_the_clocks_change() {
    assertThat(next("@every 1d", "2026-03-28T12:00:00Z", "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-03-29T12:00:00Z"));
  }

  @Test
  void an_interval_round_trips_as_text() {
    for (String text : List.of("@every 30s", "@every 1h30m", "@every 2d1s")) {
      Cron parsed = Cron.parse(text);
      Duration span = Duration.between(Instant.EPOCH, next(text, "1970-01-01T00:00:00Z", "UTC"));
      assertThat(Cron.every(span)).hasToString(text).returns(true, Cron::isInterval);
      assertThat(parsed.isInterval()).isTrue();
    }
    assertThatThrownBy(() -> Cron.every(Duration.ofMillis(1500)))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void an_all_day_cron_follows_elapsed_time_when_the_clocks_change() {
    assertThat(next("*/30 * * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-10-25T01:00:00Z"));
    assertThat(next("*/30 * * * *", "2026-03-29T00:30:00Z", "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-03-29T01:00:00Z"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "60 * * * * *",
        "* * L * *x",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "a * * * *",
        "*/0 * * * *",
        "5-1 * * * *",
        "0 0 31 2 *",
        "@never",
        "1,,2 * * * *",
        "? * * * *",
        "0 0 L-31 * *",
        "0 0 * * L",
        "L * * * *",
        "0 0 30 2 L-1",
        "@every",
        "@every 0s",
        "@every 30",
        "@every 30s1h",
        "@every 367d",
        "@everyday"
      })
  void an_invalid_cron_is_refused_with_a_reason(String text) {
    assertThatThrownBy(() -> Cron.parse(text))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("is not usable");
  }
}
