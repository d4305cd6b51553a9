package dev.holdfast.redaction;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A password among the arguments of a program that takes it under an option of one letter, such as
 * {@code curl -u name:password}. What is not secret of them stays.
 *
 * @param trigger the program
 * @param letters the options
 * @param names their long forms, as far as these do not say what they are
 * @param before what ends the part of the value that is not secret; 0 when all of it is
 * @param joined whether the value must follow the letter at once
 */
record ProgramPassword(
    String trigger, String letters, List<String> names, char before, boolean joined)
    implements Rule {
  private static final int LONGEST = 1 << 10;
  private static final int MOST_BACKSLASHES = 3;
  private static final int LONGEST_OPTION = 12;
  private static final Alphabet NAME = Alphabet.of("A-Za-z0-9_.-");
  private static final char ALL = 0;

  static List<Rule> rules() {
    List<Rule> rules = new ArrayList<>();
    rules.add(
        new ProgramPassword(
            "curl", "uUE", List.of("--user", "--proxy-user", "--cert"), ':', false));
    rules.add(new ProgramPassword("curl", "b", List.of("--cookie"), '=', false));
    rules.add(new ProgramPassword("curl", "", List.of("--oauth2-bearer"), ALL, false));
    for (String program : List.of("mysql", "mariadb", "7z")) {
      rules.add(new ProgramPassword(program, "p", List.of(), ALL, true));
    }
    for (String program : List.of("sshpass", "mongo", "cqlsh", "rabbitmqadmin")) {
      rules.add(option(program, "p"));
    }
    for (String program :
        List.of("docker", "podman", "buildah", "skopeo", "nerdctl", "registry", "az", "oc", "cf")) {
      rules.add(option(program + " login", "p"));
    }
    for (String program : List.of("sqlcmd", "bcp", "zip", "unzip")) {
      rules.add(option(program, "P"));
    }
    rules.add(option("redis-cli", "a"));
    rules.add(option("ldap", "w"));
    rules.add(new ProgramPassword("smbclient", "U", List.of("--user"), '%', false));
    rules.add(new ProgramPassword("lftp", "u", List.of("--user"), ',', false));
    return rules;
  }

  private static Rule option(String program, String letter) {
    return new ProgramPassword(program, letter, List.of(), ALL, false);
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
      if (word == null || (!wanted && line.has(trigger, word.from))) {
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
    for (String name : names) {
      if (line.has(name, word.from)) {
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

  /** Within a URL these are something else. */
  private static boolean endsCommand(Line line, int at) {
    char next = line.at(at + 1);
    return "|;&".indexOf(line.text[at]) >= 0 && (next <= ' ' || next == line.text[at]);
  }

  /** Null where the command ends. */
  private static @Nullable Word word(Line line, int at, int most) {
    int from = at;
    while (from < most && " \t,[]".indexOf(line.text[from]) >= 0) {
      from++;
    }
    int depth = 0;
    while (line.at(from + depth) == '\\' && depth < MOST_BACKSLASHES) {
      depth++;
    }
    if (from + depth >= most || endsCommand(line, from)) {
      return null;
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
