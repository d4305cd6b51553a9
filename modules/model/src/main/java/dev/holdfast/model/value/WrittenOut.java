package dev.holdfast.model.value;

import org.jspecify.annotations.Nullable;

/**
 * The length of JSON as PostgreSQL returns it: {@code jsonb} keeps numbers as decimals and writes
 * them out in full, so {@code 1e131071} comes back as 131,072 digits. Nine characters of a payload
 * would become so many in every claim and every list.
 */
final class WrittenOut {
  /** More digits of an exponent than any number that PostgreSQL takes. */
  private static final int EXPONENT_DIGITS = 9;

  /** So many digits before the point are no double any more. */
  private static final int DOUBLE_DIGITS = 308;

  private WrittenOut() {}

  /** By how many characters the document grows, or more; 0 for most of them. */
  static long growth(String json) {
    long growth = 0;
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c == '"') {
        i = endOfText(json, i);
      } else if ((c == 'e' || c == 'E') && i > 0 && isDigit(json.charAt(i - 1))) {
        growth += growth(json, i);
      }
    }
    return growth;
  }

  /**
   * The first number that no double holds; null for none. Most languages read numbers as doubles,
   * and many of them refuse the whole document for one that is larger: a list of a hundred jobs for
   * one of them, or the tasks that were leased with it.
   */
  static @Nullable String beyondDouble(String json) {
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c == '"') {
        i = endOfText(json, i);
      } else if (isDigit(c)) {
        int start = i;
        boolean exponent = false;
        while (i < json.length() && isOfNumber(json.charAt(i))) {
          exponent |= json.charAt(i) == 'e' || json.charAt(i) == 'E';
          i++;
        }
        if ((exponent || i - start > DOUBLE_DIGITS) && isInfinite(json.substring(start, i))) {
          return json.substring(start, i);
        }
        i--;
      }
    }
    return null;
  }

  /** Of the text that begins with this quote, where numbers are none. */
  private static int endOfText(String json, int quote) {
    int i = quote + 1;
    while (i < json.length() && json.charAt(i) != '"') {
      i += json.charAt(i) == '\\' ? 2 : 1;
    }
    return i;
  }

  private static boolean isOfNumber(char c) {
    return isDigit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
  }

  private static boolean isInfinite(String number) {
    try {
      return Double.isInfinite(Double.parseDouble(number));
    } catch (NumberFormatException noJson) {
      // PostgreSQL refuses it.
      return false;
    }
  }

  /**
   * Of one number, by the place of its exponent: the zeros it stands for, less what they replace.
   */
  private static long growth(String json, int e) {
    int start = e;
    int point = -1;
    while (start > 0 && (isDigit(json.charAt(start - 1)) || json.charAt(start - 1) == '.')) {
      start--;
      point = json.charAt(start) == '.' ? start : point;
    }
    int whole = (point < 0 ? e : point) - start;
    int fraction = point < 0 ? 0 : e - point - 1;
    int end = e + 1;
    boolean negative = end < json.length() && json.charAt(end) == '-';
    if (end < json.length() && (negative || json.charAt(end) == '+')) {
      end++;
    }
    long exponent = 0;
    int digits = 0;
    for (; end < json.length() && isDigit(json.charAt(end)); end++) {
      if (digits > 0 || json.charAt(end) != '0') {
        digits++;
        exponent = digits > EXPONENT_DIGITS ? exponent : exponent * 10 + json.charAt(end) - '0';
      }
    }
    long moved = negative ? -exponent : exponent;
    long written = Math.max(1, whole + moved) + 1 + Math.max(0, fraction - moved);
    return Math.max(0, written - (end - start));
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
