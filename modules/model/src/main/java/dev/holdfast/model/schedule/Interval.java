package dev.holdfast.model.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A fixed time from one moment to the next: {@code @every 1h30m}. */
record Interval(Duration every) implements Cron.Times {
  static final String WORD = "@every";

  private static final Duration LONGEST = Duration.ofDays(366);
  private static final Pattern TEXT =
      Pattern.compile("\\s+(?:(\\d{1,3})d)?(?:(\\d{1,5})h)?(?:(\\d{1,6})m)?(?:(\\d{1,8})s)?");

  Interval {
    if (every.compareTo(Duration.ofSeconds(1)) < 0
        || every.compareTo(LONGEST) > 0
        || every.toNanosPart() != 0) {
      throw Cron.refuse(
          WORD + " " + every, "an interval has whole seconds, from 1 to those of 366 days");
    }
  }

  /**
   * @param text all of it, for messages
   * @param interval what stands behind the word
   */
  static Interval parse(String text, String interval) {
    Matcher parts = TEXT.matcher(interval);
    if (!parts.matches()) {
      throw Cron.refuse(text, "an interval is written like '@every 30s' or '@every 1h30m'");
    }
    return new Interval(
        Duration.ofDays(number(parts.group(1)))
            .plusHours(number(parts.group(2)))
            .plusMinutes(number(parts.group(3)))
            .plusSeconds(number(parts.group(4))));
  }

  private static long number(@Nullable String digits) {
    return digits == null ? 0 : Long.parseLong(digits);
  }

  @Override
  public Optional<Instant> next(Instant after, ZoneId zone) {
    return Optional.of(after.plus(every));
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(WORD).append(' ');
    append(text, every.toDays(), 'd');
    append(text, every.toHoursPart(), 'h');
    append(text, every.toMinutesPart(), 'm');
    append(text, every.toSecondsPart(), 's');
    return text.toString();
  }

  private static void append(StringBuilder text, long count, char unit) {
    if (count > 0) {
      text.append(count).append(unit);
    }
  }
}
