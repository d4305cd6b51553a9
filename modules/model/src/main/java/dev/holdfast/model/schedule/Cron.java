package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * When a schedule fires: a cron expression, a word such as {@code @daily}, or a fixed interval,
 * {@code @every 30s}.
 *
 * <p>An expression has five fields, as every cron has them: minute, hour, day of month, month, day
 * of week. A sixth one in front of them is the second. {@code ?} for a day is the same as {@code
 * *}; {@code L} as day of month is the last one, {@code L-2} two days before it, and {@code friL}
 * as day of week is the last Friday of the month. Sunday is 0 or 7. When both kinds of day are
 * given, either is enough.
 *
 * <p>When clocks change, an expression with fixed hours fires once: at the first of two equal
 * times, or right after the gap that its time falls into. One for every hour follows real time and
 * is not affected, and neither is an interval.
 */
public final class Cron {
  private static final Map<String, String> WORDS =
      Map.of(
          "@yearly", "0 0 1 1 *",
          "@annually", "0 0 1 1 *",
          "@monthly", "0 0 1 * *",
          "@weekly", "0 0 * * 0",
          "@daily", "0 0 * * *",
          "@midnight", "0 0 * * *",
          "@hourly", "0 * * * *");

  /** How the times are found. */
  interface Times {
    /** The first moment after this one; empty when there is none within some years. */
    Optional<Instant> next(Instant after, ZoneId zone);
  }

  private final String text;
  private final Times times;

  private Cron(String text, Times times) {
    this.text = text;
    this.times = times;
  }

  /** Throws a {@link RefusedException} that says what is wrong with the text. */
  public static Cron parse(String text) {
    String clean = text.strip().toLowerCase(Locale.ROOT);
    Times times =
        clean.startsWith(Interval.WORD)
            ? Interval.parse(text, clean.substring(Interval.WORD.length()))
            : CronFields.parse(text, WORDS.getOrDefault(clean, clean));
    if (times.next(Instant.EPOCH, ZoneId.of("UTC")).isEmpty()) {
      throw refuse(text, "it would never fire");
    }
    return new Cron(text.strip(), times);
  }

  /** Again and again after this long, whatever the time of day: a second or more. */
  public static Cron every(Duration interval) {
    Interval times = new Interval(interval);
    return new Cron(times.toString(), times);
  }

  /** The first moment after this one; empty when there is none within five years. */
  public Optional<Instant> next(Instant after, ZoneId zone) {
    return times.next(after, zone);
  }

  /** Whether its times are the same span apart, counted from each other. */
  public boolean isInterval() {
    return times instanceof Interval;
  }

  static RefusedException refuse(String text, String why) {
    return new RefusedException(
        Refusal.BAD_SCHEDULE, "cron '%s' is not usable: %s".formatted(Text.excerpt(text, 80), why));
  }

  /** As it is written and stored; {@link #parse} makes the same of it. */
  @Override
  public String toString() {
    return text;
  }
}
