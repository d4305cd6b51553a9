package dev.holdfast.redaction;

import java.util.List;
import java.util.regex.Pattern;

/**
 * {@code machine … login … password …}, in one line, or {@code password …} in a line by itself, as
 * in the file .netrc.
 */
record NetrcPassword(String trigger) implements Rule {
  private static final int LOOK_BACK = 120;
  private static final Pattern ENTRY =
      Pattern.compile(
          "(?:.*[\\s'\"])?machine\\s++\\S++\\s++(?:(?:login|account)\\s++\\S++\\s++)*+"
              + "|\\s*+(?:default\\s++)?login\\s++\\S++\\s++");
  private static final int PEEK = 256;

  static List<Rule> rules() {
    return List.of(new NetrcPassword("password "), new NetrcPassword("password\t"));
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Line.startsWith(text, at, text.length, trigger)
        && (at == begin || text[at - 1] == ' ' || text[at - 1] == '\t');
  }

  @Override
  public void apply(Line line, int at) {
    int from = at + trigger.length();
    while (from < line.to && from - at < PEEK && " \t".indexOf(line.text[from]) >= 0) {
      from++;
    }
    int peek = end(line, from, Math.min(line.to, from + PEEK));
    String value = new String(line.text, from, peek - from);
    if (line.masked(at) || SecretValue.isOrdinary(value)) {
      return;
    }
    int back = Math.max(line.begin(), at - LOOK_BACK);
    String before = new String(line.text, back, at - back);
    boolean alone =
        before.isBlank()
            && !value.chars().allMatch(Character::isLetter)
            && new String(line.text, peek, Math.min(line.to, peek + PEEK) - peek).isBlank();
    if (alone || ENTRY.matcher(before).matches()) {
      line.mask(from, end(line, peek, line.to));
    }
  }

  private static int end(Line line, int from, int to) {
    int i = from;
    while (i < to && line.text[i] > ' ' && line.text[i] != '"' && line.text[i] != '\'') {
      i++;
    }
    return i;
  }
}
