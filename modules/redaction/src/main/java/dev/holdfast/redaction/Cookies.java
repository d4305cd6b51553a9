package dev.holdfast.redaction;

import java.util.Locale;
import java.util.Set;

/** {@code name=value; name=value}, as in the headers Cookie and Set-Cookie. The names stay. */
final class Cookies {
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.!#$%&*+^|~/[]-");
  private static final String OPENING = "\\\"'[(";
  private static final String CLOSING = "\\\"'])}";
  private static final int MOST_OPENING = 5;
  private static final int LONGEST_NAME = 128;
  private static final int PEEK = 256;
  private static final int LONGEST = 1 << 10;
  private static final Set<String> ATTRIBUTES =
      Set.of("path", "domain", "expires", "max-age", "samesite", "version", "comment", "priority");

  private Cookies() {}

  static void hide(Line line, int value) {
    int at = opened(line, value);
    boolean list = new String(line.text, value, at - value).indexOf('[') >= 0;
    int most = Math.min(line.to, value + LONGEST);
    while (at < most) {
      int equals = NAME.runEnd(line.text, at, Math.min(most, at + LONGEST_NAME));
      if (equals == at) {
        break;
      }
      int end = end(line, equals);
      if (line.at(equals) == '=') {
        mask(line, at, equals, end);
      }
      at = line.at(end) == ';' ? afterSpaces(line, end + 1) : list ? next(line, end) : line.to;
      line.checkedTo(Math.min(end, line.to));
    }
  }

  private static int opened(Line line, int from) {
    int at = from;
    while (at - from < MOST_OPENING && OPENING.indexOf(line.at(at)) >= 0) {
      at++;
    }
    return at;
  }

  /** Where the next header of a list begins. */
  private static int next(Line line, int end) {
    int closed = end;
    while (closed - end < MOST_OPENING && CLOSING.indexOf(line.at(closed)) >= 0) {
      closed++;
    }
    int next = afterSpaces(line, closed + 1);
    boolean more = closed > end && line.at(closed) == ',' && opened(line, next) > next;
    return more ? opened(line, next) : line.to;
  }

  private static int afterSpaces(Line line, int from) {
    int at = from;
    while (at - from < PEEK && line.at(at) == ' ') {
      at++;
    }
    return at;
  }

  private static void mask(Line line, int start, int equals, int end) {
    String name = new String(line.text, start, equals - start).toLowerCase(Locale.ROOT);
    int from = "\"'".indexOf(line.at(equals + 1)) >= 0 ? equals + 2 : equals + 1;
    int to = from > equals + 1 && line.at(end - 1) == line.at(equals + 1) ? end - 1 : end;
    int peek = Math.min(to, from + PEEK);
    if (from >= to || ATTRIBUTES.contains(name)) {
      return;
    }
    if (!SecretValue.isPlaceholder(new String(line.text, from, peek - from))) {
      line.mask(from, to);
    }
  }

  /** A value may be quoted; with spaces it is one only where a semicolon follows. */
  private static int end(Line line, int equals) {
    char quote = line.at(equals + 1);
    if (quote == '"' || quote == '\'') {
      int closing = ValueEnd.quoted(line, equals + 2, Math.min(line.to, equals + PEEK), quote, 0);
      if (line.at(closing) == quote && "; \n".indexOf(line.at(closing + 1)) >= 0) {
        return closing + 1;
      }
    }
    int end = bare(line, equals, line.to, ' ');
    int semicolon = bare(line, end, Math.min(line.to, end + PEEK), '\n');
    return line.at(semicolon) == ';' ? semicolon : end;
  }

  private static int bare(Line line, int from, int to, char ends) {
    int i = from;
    while (i < to
        && line.text[i] != ends
        && line.text[i] >= ' '
        && line.text[i] != ';'
        && CLOSING.indexOf(line.text[i]) < 0) {
      i++;
    }
    return i;
  }
}
