package dev.holdfast.redaction;

/**
 * A token that begins with a prefix nobody else uses.
 *
 * @param least characters after the prefix
 * @param most of them; more is something else
 * @param random whether it must look like chance: what follows the prefix could be words otherwise
 * @param kept how much of the prefix stays readable
 */
record Prefixed(String trigger, Alphabet alphabet, int least, int most, boolean random, int kept)
    implements Rule {
  private static final int PEEK = 256;

  static Prefixed atLeast(String prefix, Alphabet alphabet, int least) {
    return new Prefixed(prefix, alphabet, least, Integer.MAX_VALUE, false, 0);
  }

  static Prefixed exactly(String prefix, Alphabet alphabet, int length) {
    return new Prefixed(prefix, alphabet, length, length, false, 0);
  }

  /** Where words with dashes could stand as well. */
  Prefixed ifRandom() {
    return new Prefixed(trigger, alphabet, least, most, true, kept);
  }

  Prefixed keepingPrefix() {
    return new Prefixed(trigger, alphabet, least, most, random, trigger.length());
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Line.startsWith(text, at, text.length, trigger) && beginsWord(text, begin, at);
  }

  /** Letters that belong to an escape, such as those of a colour or of %3D, are no part of it. */
  static boolean beginsWord(char[] text, int begin, int at) {
    if (at == begin || !Alphabet.ALNUM.has(text[at - 1]) || !Alphabet.ALNUM.has(text[at])) {
      return true;
    }
    char before = text[at - 1];
    if (at - begin >= 2 && text[at - 2] == '\\' && "nrt".indexOf(before) >= 0) {
      return true;
    }
    if (at - begin >= 3 && text[at - 3] == '%' && Alphabet.HEX.has(before)) {
      return Alphabet.HEX.has(text[at - 2]);
    }
    return before == 'm' && endsColour(text, begin, at - 1);
  }

  private static boolean endsColour(char[] text, int begin, int at) {
    int i = at - 1;
    while (i > begin && at - i < 20 && (Alphabet.DIGIT.has(text[i]) || text[i] == ';')) {
      i--;
    }
    return i > begin && text[i] == '[' && text[i - 1] == '\u001b';
  }

  @Override
  public void apply(Line line, int at) {
    if (line.masked(at)) {
      return;
    }
    int from = at + trigger.length();
    int checked = alphabet.runEnd(line.text, from, Math.min(line.to, from + PEEK));
    int length = checked - from;
    if (length < least || length > most || (random && !looksRandom(line.text, from, checked))) {
      return;
    }
    line.mask(at + kept, alphabet.runEnd(line.text, checked, line.to));
  }

  private static boolean looksRandom(char[] text, int from, int to) {
    boolean digit = false;
    boolean upper = false;
    int run = 0;
    int longest = 0;
    for (int i = from; i < to; i++) {
      digit |= Alphabet.DIGIT.has(text[i]);
      upper |= text[i] >= 'A' && text[i] <= 'Z';
      run = Alphabet.ALNUM.has(text[i]) ? run + 1 : 0;
      longest = Math.max(longest, run);
    }
    return digit && (upper || longest >= 20);
  }
}
