package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * When a schedule fires: five fields (minute, hour, day of month, month, day of week), as every
 * cron has them, or a word such as {@code @daily}.
 *
 * <p>When clocks change, a schedule with fixed hours fires once: at the first of two equal times,
 * or right after the gap that its time falls into. A schedule for every hour follows real time and
 * is not affected.
 */
public final class Cron {
  private static final int YEARS = 5;
  private static final Map<String, String> WORDS =
      Map.of(
          "@yearly", "0 0 1 1 *",
          "@monthly", "0 0 1 * *",
          "@weekly", "0 0 * * 0",
          "@daily", "0 0 * * *",
          "@hourly", "0 * * * *");
  private static final List<String> MONTHS =
      List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
  private static final List<String> WEEKDAYS =
      List.of("sun", "mon", "tue", "wed", "thu", "fri", "sat");

  private final String text;
  private final BitSet minutes;
  private final BitSet hours;
  private final BitSet days;
  private final BitSet months;
  private final BitSet weekdays;
  private final boolean eitherDay;

  private Cron(String text, String[] field) {
    this.text = text.strip();
    this.minutes = field(text, field[0], 0, 59, List.of(), 0);
    this.hours = field(text, field[1], 0, 23, List.of(), 0);
    this.days = field(text, field[2], 1, 31, List.of(), 0);
    this.months = field(text, field[3], 1, 12, MONTHS, 1);
    this.weekdays = field(text, field[4], 0, 7, WEEKDAYS, 0);
    if (weekdays.get(7)) {
      weekdays.set(0); // both are Sunday
    }
    // The rule of cron: when both kinds of day are given, either is enough.
    this.eitherDay = !field[2].startsWith("*") && !field[4].startsWith("*");
  }

  public static Cron parse(String text) {
    String clean = text.strip().toLowerCase(Locale.ROOT);
    String[] field = WORDS.getOrDefault(clean, clean).split("\\s+");
    if (field.length != 5) {
      throw refuse(text, "it must have five fields: minute hour day month weekday");
    }
    Cron cron = new Cron(text, field);
    if (cron.next(Instant.EPOCH, ZoneId.of("UTC")).isEmpty()) {
      throw refuse(text, "it would never fire");
    }
    return cron;
  }

  private static BitSet field(
      String text, String field, int min, int max, List<String> names, int firstName) {
    BitSet bits = new BitSet();
    for (String part : field.split(",", -1)) {
      String[] step = part.split("/", 2);
      int every = step.length == 2 ? number(text, step[1], 1, max) : 1;
      int from = min;
      int to = max;
      if (!step[0].equals("*")) {
        String[] range = step[0].split("-", 2);
        from = value(text, range[0], min, max, names, firstName);
        to =
            range.length == 2
                ? value(text, range[1], min, max, names, firstName)
                : step.length == 2 ? max : from;
      }
      if (from > to) {
        throw refuse(text, "'" + part + "' runs backwards");
      }
      for (int i = from; i <= to; i += every) {
        bits.set(i);
      }
    }
    return bits;
  }

  private static int value(
      String text, String word, int min, int max, List<String> names, int firstName) {
    int named = names.indexOf(word);
    return named >= 0 ? named + firstName : number(text, word, min, max);
  }

  private static int number(String text, String word, int min, int max) {
    try {
      int number = Integer.parseInt(word);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException noNumber) {
      // said below
    }
    throw refuse(text, "'" + word + "' must be a number from " + min + " to " + max);
  }

  private static RefusedException refuse(String text, String why) {
    return new RefusedException(
        Refusal.BAD_SCHEDULE, "cron '%s' is not usable: %s".formatted(Text.excerpt(text, 80), why));
  }

  /** The first moment after this one; empty when there is none within five years. */
  public Optional<Instant> next(Instant after, ZoneId zone) {
    LocalDate day = after.atZone(zone).toLocalDate();
    for (LocalDate end = day.plusYears(YEARS); day.isBefore(end); day = day.plusDays(1)) {
      if (onDay(day)) {
        Optional<Instant> found =
            hours.cardinality() == 24 ? byInstant(day, zone, after) : byClock(day, zone, after);
        if (found.isPresent()) {
          return found;
        }
      }
    }
    return Optional.empty();
  }

  private boolean onDay(LocalDate day) {
    boolean ofMonth = days.get(day.getDayOfMonth());
    boolean ofWeek = weekdays.get(day.getDayOfWeek().getValue() % 7);
    return months.get(day.getMonthValue()) && (eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek);
  }

  private Optional<Instant> byClock(LocalDate day, ZoneId zone, Instant after) {
    for (int hour = hours.nextSetBit(0); hour >= 0; hour = hours.nextSetBit(hour + 1)) {
      for (int minute = minutes.nextSetBit(0);
          minute >= 0;
          minute = minutes.nextSetBit(minute + 1)) {
        Instant at = firstAt(LocalDateTime.of(day, LocalTime.of(hour, minute)), zone);
        if (at.isAfter(after)) {
          return Optional.of(at);
        }
      }
    }
    return Optional.empty();
  }

  /** The first of two equal times, or the end of the gap that has swallowed this one. */
  private static Instant firstAt(LocalDateTime local, ZoneId zone) {
    ZoneOffsetTransition gap = zone.getRules().getTransition(local);
    return gap != null && gap.isGap()
        ? gap.getInstant()
        : ZonedDateTime.ofLocal(local, zone, null).toInstant();
  }

  private Optional<Instant> byInstant(LocalDate day, ZoneId zone, Instant after) {
    Instant start = day.atStartOfDay(zone).toInstant();
    Instant end = day.plusDays(1).atStartOfDay(zone).toInstant();
    Instant later = after.truncatedTo(ChronoUnit.MINUTES).plus(1, ChronoUnit.MINUTES);
    for (Instant at = start.isAfter(after) ? start : later;
        at.isBefore(end);
        at = at.plus(1, ChronoUnit.MINUTES)) {
      if (minutes.get(at.atZone(zone).getMinute())) {
        return Optional.of(at);
      }
    }
    return Optional.empty();
  }

  @Override
  public String toString() {
    return text;
  }
}
