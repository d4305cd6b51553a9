package dev.holdfast.steps;

import java.util.Locale;
import java.util.Set;

/** {@code name=value; name=value}, as in the headers Cookie and Set-Cookie. The names stay. */
final class Cookies {
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.!#$%&*+^|~-");
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
    int at = value;
    while (at - value < MOST_OPENING && OPENING.indexOf(line.at(at)) >= 0) {
      at++;
    }
    int most = Math.min(line.to, value + LONGEST);
    while (at < most) {
      int equals = NAME.runEnd(line.text, at, Math.min(most, at + LONGEST_NAME));
      if (equals == at) {
        return;
      }
      int end = end(line, equals, line.to);
      if (line.at(equals) == '=') {
        mask(line, at, equals, end);
      }
      if (line.at(end) != ';') {
        return;
      }
      at = end + 1;
      while (at < most && line.at(at) == ' ') {
        at++;
      }
    }
  }

  private static void mask(Line line, int start, int equals, int end) {
    String name = new String(line.text, start, equals - start).toLowerCase(Locale.ROOT);
    int from = line.at(equals + 1) == '"' ? equals + 2 : equals + 1;
    int peek = Math.min(end, from + PEEK);
    if (from >= end || ATTRIBUTES.contains(name)) {
      return;
    }
    if (!SecretValue.isPlaceholder(new String(line.text, from, peek - from))) {
      line.mask(from, end);
    }
  }

  private static int end(Line line, int from, int to) {
    int i = line.at(from + 1) == '"' ? from + 2 : from;
    while (i < to
        && line.text[i] > ' '
        && line.text[i] != ';'
        && CLOSING.indexOf(line.text[i]) < 0) {
      i++;
    }
    return i;
  }
}
