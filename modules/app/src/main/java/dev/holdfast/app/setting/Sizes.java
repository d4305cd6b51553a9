package dev.holdfast.app.setting;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as PostgreSQL writes them: 512kB, 10MB, 2GB; each unit is 1024 of the one before. */
final class Sizes {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})(b|kb|mb|gb)");

  private Sizes() {}

  static long parse(String text) {
    Matcher size = SIZE.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (!size.matches()) {
      throw new IllegalArgumentException(
          "'" + text + "' is no size: write 512kB, 10MB or 2GB, with the unit");
    }
    return Math.multiplyExact(Long.parseLong(size.group(1)), 1L << shift(size.group(2)));
  }

  private static int shift(String unit) {
    return switch (unit) {
      case "b" -> 0;
      case "kb" -> 10;
      case "mb" -> 20;
      default -> 30;
    };
  }

  /** In the largest unit that has no fraction. */
  static String text(long bytes) {
    for (String unit : new String[] {"GB", "MB", "kB"}) {
      long one = 1L << shift(unit.toLowerCase(Locale.ROOT));
      if (bytes >= one && bytes % one == 0) {
        return bytes / one + unit;
      }
    }
    return bytes + "B";
  }
}
