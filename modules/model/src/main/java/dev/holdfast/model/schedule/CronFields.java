package dev.holdfast.model.schedule;

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
import java.util.Optional;

/** The fields of a cron expression, and the moments at which all of them match. */
final class CronFields implements Cron.Times {
  private static final int YEARS = 5;
  private static final List<String> MONTHS =
      List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
  private static final List<String> WEEKDAYS =
      List.of("sun", "mon", "tue", "wed", "thu", "fri", "sat");

  private final BitSet seconds;
  private final BitSet minutes;
  private final BitSet hours;
  private final BitSet days;
  // Days before the last one of a month.
  private final BitSet lastDays = new BitSet();
  private final BitSet months;
  private final BitSet weekdays;
  // Days of the week of which only the last in a month counts.
  private final BitSet lastWeekdays = new BitSet();
  private final boolean eitherDay;

  private CronFields(String text, String[] field) {
    CronParser parser = new CronParser(text);
    this.seconds = parser.field(field[0], 0, 59, List.of(), 0);
    this.minutes = parser.field(field[1], 0, 59, List.of(), 0);
    this.hours = parser.field(field[2], 0, 23, List.of(), 0);
    this.days = parser.daysOfMonth(anyDay(field[3]), lastDays);
    this.months = parser.field(field[4], 1, 12, MONTHS, 1);
    this.weekdays = parser.daysOfWeek(anyDay(field[5]), WEEKDAYS, lastWeekdays);
    // The rule of cron: when both kinds of day are given, either is enough.
    this.eitherDay = !isAny(field[3]) && !isAny(field[5]);
  }

  static CronFields parse(String text, String expression) {
    String[] field = expression.split("\\s+");
    if (field.length == 5) {
      return new CronFields(text, ("0 " + expression).split("\\s+"));
    }
    if (field.length != 6) {
      throw Cron.refuse(
          text,
          "it must have five fields, minute hour day month weekday, or six with the second first");
    }
    return new CronFields(text, field);
  }

  private static String anyDay(String field) {
    return field.equals("?") ? "*" : field;
  }

  private static boolean isAny(String field) {
    return field.startsWith("*") || field.equals("?");
  }

  @Override
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
    int left = day.lengthOfMonth() - day.getDayOfMonth();
    int weekday = day.getDayOfWeek().getValue() % 7;
    boolean ofMonth = days.get(day.getDayOfMonth()) || lastDays.get(left);
    boolean ofWeek = weekdays.get(weekday) || (left < 7 && lastWeekdays.get(weekday));
    return months.get(day.getMonthValue()) && (eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek);
  }

  private Optional<Instant> byClock(LocalDate day, ZoneId zone, Instant after) {
    // What lies hours before cannot be after it, whatever the clocks do on that day.
    LocalDateTime passed = after.atZone(zone).toLocalDateTime().minusHours(3);
    for (int hour = hours.nextSetBit(0); hour >= 0; hour = hours.nextSetBit(hour + 1)) {
      for (int minute = minutes.nextSetBit(0);
          minute >= 0;
          minute = minutes.nextSetBit(minute + 1)) {
        LocalDateTime inMinute = LocalDateTime.of(day, LocalTime.of(hour, minute));
        if (inMinute.isBefore(passed)) {
          continue;
        }
        for (int second = seconds.nextSetBit(0);
            second >= 0;
            second = seconds.nextSetBit(second + 1)) {
          Instant at = firstAt(inMinute.withSecond(second), zone);
          if (at.isAfter(after)) {
            return Optional.of(at);
          }
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
    for (Instant minute = start.isAfter(after) ? start : after.truncatedTo(ChronoUnit.MINUTES);
        minute.isBefore(end);
        minute = minute.plus(1, ChronoUnit.MINUTES)) {
      if (minutes.get(minute.atZone(zone).getMinute())) {
        for (int second = seconds.nextSetBit(0);
            second >= 0;
            second = seconds.nextSetBit(second + 1)) {
          Instant at = minute.plusSeconds(second);
          if (at.isAfter(after)) {
            return Optional.of(at);
          }
        }
      }
    }
    return Optional.empty();
  }
}
