package dev.holdfast.app.setting;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: 250ms, 90s, 15m, 1h30m, 7d. */
public final class Durations {
  private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h|d)");

  private Durations() {}

  public static Duration parse(String text) {
    Matcher part = PART.matcher(text.strip().toLowerCase(Locale.ROOT));
    double millis = 0;
    int end = 0;
    while (part.find() && part.start() == end) {
      millis += Double.parseDouble(part.group(1)) * unit(part.group(2));
      end = part.end();
    }
    if (end == 0 || end != text.strip().length() || millis > Long.MAX_VALUE / 2.0) {
      throw new IllegalArgumentException(
          "'" + text + "' is no duration: write 250ms, 90s, 15m, 1h30m or 7d");
    }
    return Duration.ofMillis(Math.round(millis));
  }

  /** As it would be written in a setting: 10s, 5m, 250ms; in the largest unit without fraction. */
  public static String compact(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0s";
    }
    for (String unit : new String[] {"d", "h", "m", "s"}) {
      if (millis % unit(unit) == 0) {
        return millis / unit(unit) + unit;
      }
    }
    return millis + "ms";
  }

  private static long unit(String name) {
    return switch (name) {
      case "ms" -> 1;
      case "s" -> 1_000;
      case "m" -> 60_000;
      case "h" -> 3_600_000;
      default -> 86_400_000;
    };
  }

  /** The time since then, as {@link #text} writes it; zero if the clocks disagree. */
  public static String age(Instant since, Instant now) {
    Duration age = Duration.between(since, now);
    return text(age.isNegative() ? Duration.ZERO : age);
  }

  /** Short, for tables: 3 ms, 1.4 s, 12 min, 3 h, 5 d. */
  public static String text(Duration duration) {
    long millis = duration.toMillis();
    if (millis < 1_000) {
      return millis + " ms";
    } else if (millis < 60_000) {
      return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    } else if (millis < 3_600_000) {
      return millis / 60_000 + " min " + millis / 1000 % 60 + " s";
    } else if (millis < 172_800_000) {
      return millis / 3_600_000 + " h " + millis / 60_000 % 60 + " min";
    } else {
      return millis / 86_400_000 + " d";
    }
  }
}
