package dev.holdfast.steps;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A password among the arguments of a program that takes it under an option of one letter, such as
 * {@code curl -u name:password}. What is not secret of them stays.
 *
 * @param trigger the program
 * @param letters the options
 * @param before what ends the part of the value that is not secret; 0 when all of it is
 * @param joined whether the value must follow the letter at once
 */
record ProgramPassword(String trigger, String letters, char before, boolean joined)
    implements Rule {
  private static final int LONGEST = 1 << 10;
  private static final int MOST_BACKSLASHES = 3;
  private static final int LONGEST_OPTION = 12;
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.-");
  private static final char ALL = 0;

  static List<Rule> rules() {
    return List.of(
        new ProgramPassword("curl", "uU", ':', false),
        new ProgramPassword("curl", "b", '=', false),
        new ProgramPassword("mysql", "p", ALL, true),
        new ProgramPassword("mariadb", "p", ALL, true),
        new ProgramPassword("sshpass", "p", ALL, false),
        new ProgramPassword("mongosh", "p", ALL, false),
        new ProgramPassword("redis-cli", "a", ALL, false),
        new ProgramPassword("ldapsearch", "w", ALL, false),
        new ProgramPassword("docker login", "p", ALL, false),
        new ProgramPassword("podman login", "p", ALL, false),
        new ProgramPassword("registry login", "p", ALL, false),
        new ProgramPassword("az login", "p", ALL, false));
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Line.startsWith(text, at, text.length, trigger) && Prefixed.beginsWord(text, begin, at);
  }

  /** An argument, without its quotes. */
  private record Word(int from, int to, int next) {}

  @Override
  public void apply(Line line, int at) {
    int most = Math.min(line.to, at + LONGEST);
    int i = NAME.runEnd(line.text, at + trigger.length(), most);
    while (i < most && "\\\"'".indexOf(line.text[i]) >= 0) {
      i++;
    }
    boolean wanted = false;
    while (i < most) {
      Word word = word(line, i, most);
      if (word == null) {
        return;
      }
      int value = wanted ? word.from : value(line, word);
      wanted = !wanted && value == word.to && !joined;
      if (value >= 0 && value < word.to) {
        hide(line, value, word.to);
      }
      i = word.next;
    }
  }

  /** Where the value begins within this option: its end if it is the next argument, or -1. */
  private int value(Line line, Word word) {
    if (line.at(word.from) != '-' || word.to - word.from < 2) {
      return -1;
    }
    if (line.at(word.from + 1) == '-') {
      return longOption(line, word);
    }
    if (letters.indexOf(line.at(word.from + 1)) >= 0) {
      return word.from + 2;
    }
    // Options that take nothing may go before it: -fsSu
    boolean last =
        word.to - word.from <= LONGEST_OPTION && letters.indexOf(line.at(word.to - 1)) >= 0;
    return last && Alphabet.ALNUM.runEnd(line.text, word.from + 1, word.to) == word.to
        ? word.to
        : -1;
  }

  private int longOption(Line line, Word word) {
    for (String name : List.of("--user", "--proxy-user")) {
      if (before == ':' && line.has(name, word.from)) {
        int end = word.from + name.length();
        return end == word.to ? end : line.at(end) == '=' ? end + 1 : -1;
      }
    }
    return -1;
  }

  private void hide(Line line, int from, int to) {
    int start = "\"'".indexOf(line.at(from)) >= 0 ? from + 1 : from;
    if (before != ALL) {
      while (start < to && line.text[start] != before) {
        start++;
      }
      start++;
    }
    if (start < to
        && !line.masked(start)
        && !SecretValue.isPlaceholder(new String(line.text, start, to - start))) {
      line.mask(start, to);
    }
  }

  private static @Nullable Word word(Line line, int at, int most) {
    int from = at;
    while (from < most && " \t,[]".indexOf(line.text[from]) >= 0) {
      from++;
    }
    int depth = 0;
    while (line.at(from + depth) == '\\' && depth < MOST_BACKSLASHES) {
      depth++;
    }
    if (from + depth >= most || "|;&".indexOf(line.text[from]) >= 0) {
      return null; // the end of the command
    }
    char quote = line.text[from + depth];
    if (quote == '"' || quote == '\'') {
      int start = from + depth + 1;
      int end = ValueEnd.quoted(line, start, most, quote, depth);
      return new Word(start, end, Math.min(most, end + depth + 1));
    }
    int end = ValueEnd.bare(line, from, most);
    return new Word(from, end, Math.max(end, from + 1));
  }
}
