package dev.holdfast.redaction;

import java.util.List;
import java.util.Locale;

/**
 * {@code name=value}, {@code name: value}, {@code "name": "value"}, {@code --name value} and {@code
 * <name>value</name>}, where the name says that the value is secret. The name stays.
 */
record NamedSecret(String trigger) implements Rule {
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.-");
  private static final int LONGEST_NAME = 64;
  private static final int MOST_SPACES = 32;
  private static final int MOST_BACKSLASHES = 3;
  private static final int PEEK = 256;
  private static final List<String> SCHEMES =
      List.of("bearer ", "basic ", "token ", "apikey ", "negotiate ", "bot ");
  private static final List<String> SCHEMES_OF_MANY_PARTS = List.of("digest ", "aws4-hmac-sha256 ");

  static List<Rule> rules() {
    return SecretName.TRIGGERS.stream().<Rule>map(NamedSecret::new).toList();
  }

  /** How name and value are joined. */
  private enum Join {
    NONE,
    EQUALS,
    SPACED_EQUALS,
    COLON,
    SPACED_COLON,
    FLAG,
    ELEMENT,
    QUOTE
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return true;
  }

  @Override
  public void apply(Line line, int at) {
    if (line.isChecked(at) || line.masked(at)) {
      return;
    }
    int end = NAME.runEnd(line.text, at, Math.min(line.to, at + LONGEST_NAME));
    line.checkedTo(end);
    int start = at;
    while (at - start < LONGEST_NAME && NAME.has(line.at(start - 1))) {
      start--;
    }
    if (isKeyOfTwoWords(line, start, end)) {
      start--;
      while (at - start < LONGEST_NAME && Alphabet.ALNUM.has(line.at(start - 1))) {
        start--;
      }
    }
    int after = afterQuote(line, end);
    int next = afterSpaces(line, after);
    // Most names are sorted out by what follows them, before anybody looks at their words.
    if (line.at(start) != '-' && "=:>'\"".indexOf(line.at(next)) < 0) {
      return;
    }
    String name = new String(line.text, start, end - start);
    SecretName kind = SecretName.of(name);
    Join join = kind == SecretName.ORDINARY ? Join.NONE : join(line, start, after, next);
    if (join == Join.NONE) {
      return;
    }
    int value = valueStart(line, join, next);
    if (kind == SecretName.AUTHORIZATION) {
      authorization(line, value);
    } else if (kind == SecretName.COOKIE) {
      if (join != Join.SPACED_EQUALS && join != Join.QUOTE && join != Join.ELEMENT) {
        Cookies.hide(line, value);
      }
    } else {
      hide(line, kind, join, start, name, value);
    }
  }

  /** "API key": of a key alone nobody knows what it is for. */
  private static boolean isKeyOfTwoWords(Line line, int start, int end) {
    return end - start == "key".length() && line.at(start - 1) == ' ';
  }

  private static int afterQuote(Line line, int end) {
    int i = end;
    while (line.at(i) == '\\' && i - end < MOST_BACKSLASHES) {
      i++;
    }
    if (line.at(i) != '"' && line.at(i) != '\'') {
      return end;
    }
    return line.at(i + 1) == ']' ? i + 2 : i + 1;
  }

  private static int afterSpaces(Line line, int from) {
    int i = from;
    while (i - from < MOST_SPACES && (line.at(i) == ' ' || line.at(i) == '\t')) {
      i++;
    }
    return i;
  }

  private static Join join(Line line, int start, int after, int next) {
    char then = line.at(next + 1);
    boolean spaced = next > after || then == ' ' || then == '\t';
    return switch (line.at(next)) {
      case '=' -> {
        Join join = spaced || then == '>' ? Join.SPACED_EQUALS : Join.EQUALS;
        yield then == '=' || then == '~' ? Join.NONE : join;
      }
      case ':' -> {
        Join join = spaced ? Join.SPACED_COLON : Join.COLON;
        // The user of a URL may have such a name; UrlPassword knows where its password ends.
        boolean other = then == ':' || then == '/' || line.has("://", start - 3);
        yield other ? Join.NONE : then == '=' ? Join.SPACED_EQUALS : join;
      }
      case '>' -> next == after && line.at(start - 1) == '<' ? Join.ELEMENT : Join.NONE;
      default -> {
        if (line.at(start) == '-') {
          yield next > after || line.at(next) == ',' ? Join.FLAG : Join.NONE;
        }
        boolean quote = line.at(next) == '\'' || line.at(next) == '"';
        yield quote && next > after ? Join.QUOTE : Join.NONE;
      }
    };
  }

  private static int valueStart(Line line, Join join, int next) {
    return switch (join) {
      case NONE, QUOTE -> next;
      case FLAG -> afterSpaces(line, line.at(next) == ',' ? next + 1 : next);
      case ELEMENT -> next + 1;
      case EQUALS, SPACED_EQUALS, COLON, SPACED_COLON -> {
        char then = line.at(next + 1);
        boolean two = line.at(next) == '=' ? then == '>' : then == '=';
        yield afterSpaces(line, next + (two ? 2 : 1));
      }
    };
  }

  private static void hide(
      Line line, SecretName kind, Join join, int start, String name, int value) {
    int depth = 0;
    value += line.at(value) == '[' ? 1 : 0;
    while (line.at(value + depth) == '\\' && depth < MOST_BACKSLASHES) {
      depth++;
    }
    char quote = line.at(value + depth);
    boolean quoted = join != Join.ELEMENT && (quote == '"' || quote == '\'' || quote == '`');
    int from = quoted ? value + depth + 1 : value;
    int peek = end(line, join, from, Math.min(line.to, from + PEEK), quoted, quote, depth);
    boolean open = join == Join.ELEMENT && !line.has("</", peek);
    if (from >= line.to || open || PrivateKey.body(line, from) >= 0) {
      return;
    }
    String text = new String(line.text, from, peek - from);
    boolean secret =
        (quoted || join == Join.ELEMENT)
            ? isSecretInQuotes(kind, join, name, text)
            : isSecret(line, kind, join, start, name, text, peek);
    if (secret) {
      line.mask(from, end(line, join, from, line.to, quoted, quote, depth));
    }
  }

  private static int end(
      Line line, Join join, int from, int to, boolean quoted, char quote, int depth) {
    if (quoted) {
      return ValueEnd.quoted(line, from, to, quote, depth);
    }
    return join == Join.ELEMENT ? ValueEnd.element(line, from, to) : ValueEnd.bare(line, from, to);
  }

  private static boolean mayBeSecret(SecretName kind, String name, String value) {
    if (SecretValue.isOrdinary(value)) {
      return false;
    }
    if (kind == SecretName.MAYBE) {
      return SecretValue.looksRandom(value) && !SecretValue.isPlace(value);
    }
    return kind == SecretName.PASSWORD
        // The working directory has the name of a password.
        ? !(name.toLowerCase(Locale.ROOT).endsWith("pwd") && value.startsWith("/"))
        : !SecretValue.isPlace(value) && !SecretValue.isNumberShorterThan(6, value);
  }

  private static boolean isSecretInQuotes(SecretName kind, Join join, String name, String value) {
    boolean prose =
        join == Join.QUOTE
            ? !SecretValue.looksRandom(value)
            : value.indexOf(' ') >= 0 && value.chars().noneMatch(Character::isDigit);
    return mayBeSecret(kind, name, value) && (kind == SecretName.PASSWORD || !prose);
  }

  private static boolean isSecret(
      Line line, SecretName kind, Join join, int start, String name, String value, int end) {
    if (!mayBeSecret(kind, name, value) || SecretValue.isCode(value)) {
      return false;
    }
    boolean alone = ValueEnd.isLast(line, end);
    boolean expected = alone && (kind == SecretName.PASSWORD || !isAfterProse(line, start));
    return switch (join) {
      case NONE -> false;
      case EQUALS, ELEMENT, QUOTE -> true;
      case FLAG -> !value.startsWith("-");
      case SPACED_EQUALS ->
          !SecretValue.isMember(line.at(end) == ';' ? value + ";" : value)
              && (expected || SecretValue.looksRandom(value));
      // "sort=token:asc"
      case COLON ->
          SecretValue.looksRandom(value)
              || (expected
                  && (kind == SecretName.PASSWORD || value.length() >= 6)
                  && !SecretValue.isNumberShorterThan(4, value));
      case SPACED_COLON ->
          SecretValue.looksRandom(value)
              || (expected && !SecretValue.isNumberShorterThan(4, value));
    };
  }

  /** "unexpected token: end" is a sentence, "token: end" a setting. */
  private static boolean isAfterProse(Line line, int start) {
    return line.at(start - 1) == ' ' && Alphabet.ALNUM.has(line.at(start - 2));
  }

  private static void authorization(Line line, int value) {
    int from = value;
    while (from - value < MOST_BACKSLASHES + 2 && "\\\"'[(".indexOf(line.at(from)) >= 0) {
      from++;
    }
    String start =
        new String(line.text, from, Math.min(line.to - from, 20)).toLowerCase(Locale.ROOT);
    for (String scheme : SCHEMES_OF_MANY_PARTS) {
      if (start.startsWith(scheme)) {
        line.mask(from + scheme.length(), line.to);
        return;
      }
    }
    int secret = from;
    for (String scheme : SCHEMES) {
      if (start.startsWith(scheme)) {
        secret = afterSpaces(line, from + scheme.length());
      }
    }
    int peek = ValueEnd.bare(line, secret, Math.min(line.to, secret + PEEK));
    String text = new String(line.text, secret, peek - secret);
    if (secret > from ? !SecretValue.isOrdinary(text) : SecretValue.looksRandom(text)) {
      line.mask(secret, ValueEnd.bare(line, peek, line.to));
    }
  }
}
