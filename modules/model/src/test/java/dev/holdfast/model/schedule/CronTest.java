package dev.holdfast.model.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.model.value.RefusedException;
import java.time.Instant;
import java.time.ZoneId;
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
    "@hourly, 2026-12-31T23:00:00Z, 2027-01-01T00:00:00Z"
  })
  void the_next_time_in_utc_is(String cron, String after, String expected) {
    assertThat(next(cron, after, "UTC")).isEqualTo(Instant.parse(expected));
  }

  @Test
  void the_zone_decides_what_nine_o_clock_is() {
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
  void what_runs_all_day_goes_by_real_time_when_the_clocks_change() {
    assertThat(next("*/30 * * * *", "2026-10-25T00:30:00Z", "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-10-25T01:00:00Z"));
    assertThat(next("*/30 * * * *", "2026-03-29T00:30:00Z", "Europe/Berlin"))
        .isEqualTo(Instant.parse("2026-03-29T01:00:00Z"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
        "* * * * 8", "a * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 31 2 *", "@never",
            "1,,2 * * * *"
      })
  void what_is_no_cron_is_refused_with_a_reason(String text) {
    assertThatThrownBy(() -> Cron.parse(text))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("is not usable");
  }
}
