package dev.holdfast.redaction;

/** Where a value ends, by how it is written. */
final class ValueEnd {
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.-");
  private static final int LONGEST_NAME = 64;
  private static final String CLOSING = ")]}>\"'`";
  private static final String AFTER_CLOSING = ",;.:)]}>\"'`<&|\\";

  private ValueEnd() {}

  /** The closing quote, escaped as deeply as the opening one; {@code to} if there is none. */
  static int quoted(Line line, int from, int to, char quote, int depth) {
    int backslashes = 0;
    for (int i = from; i < to; i++) {
      char c = line.text[i];
      if (c == quote && (depth == 0 ? backslashes % 2 == 0 : backslashes <= depth)) {
        return i - (depth == 0 ? 0 : backslashes);
      }
      backslashes = c == '\\' ? backslashes + 1 : 0;
    }
    return to;
  }

  static int element(Line line, int from, int to) {
    int i = from;
    while (i < to && line.text[i] != '<') {
      i++;
    }
    return i;
  }

  /** Passwords have punctuation: it ends them only where it separates them from something. */
  static int bare(Line line, int from, int to) {
    for (int i = from; i < to; i++) {
      char c = line.text[i];
      if (c <= ' ' || (c < 128 && !Alphabet.ALNUM.has(c) && ends(line, c, i + 1))) {
        return i;
      }
    }
    return to;
  }

  private static boolean ends(Line line, char c, int next) {
    char after = line.at(next);
    return switch (c) {
      case ',', ';', '&' -> after <= ' ' || CLOSING.indexOf(after) >= 0 || isName(line, next);
      case '<' -> after == '/' || Alphabet.ALNUM.has(after);
      case '\\' -> "nrt\"'".indexOf(after) >= 0;
      default -> CLOSING.indexOf(c) >= 0 && (after <= ' ' || AFTER_CLOSING.indexOf(after) >= 0);
    };
  }

  /** Whether the next name begins here. */
  private static boolean isName(Line line, int at) {
    int end = NAME.runEnd(line.text, at, Math.min(line.to, at + LONGEST_NAME));
    return end > at && (line.at(end) == '=' || line.at(end) == ':');
  }

  /** Whether nothing more is said after the value: prose goes on, settings do not. */
  static boolean isLast(Line line, int end) {
    int i = end;
    while (i - end < LONGEST_NAME && (line.at(i) == ' ' || line.at(i) == '\t')) {
      i++;
    }
    return i >= line.to || i == end || line.text[i] == '#' || isName(line, i);
  }
}
