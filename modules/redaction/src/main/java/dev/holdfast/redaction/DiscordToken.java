package dev.holdfast.redaction;

/**
 * The bot's number in base64, six characters and some thirty more, with dots between them. It has
 * no prefix: the second dot is what it is found by.
 */
record DiscordToken() implements Rule {
  private static final int MIDDLE = 6;
  private static final int SHORTEST_NUMBER = 23;
  private static final int LONGEST_NUMBER = 28;
  private static final int SHORTEST_LAST = 27;
  private static final int LONGEST_LAST = 45;

  @Override
  public String trigger() {
    return ".";
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    int first = at - MIDDLE - 1;
    return first - begin >= SHORTEST_NUMBER
        && text[first] == '.'
        && Alphabet.WORD_DASH.runEnd(text, first + 1, at) == at
        && numberStart(text, begin, first) >= 0;
  }

  /** Digits in base64 begin with M, N or O. */
  private static int numberStart(char[] text, int begin, int end) {
    int start = end;
    while (start > begin && end - start <= LONGEST_NUMBER && Alphabet.ALNUM.has(text[start - 1])) {
      start--;
    }
    int length = end - start;
    boolean fits = length >= SHORTEST_NUMBER && length <= LONGEST_NUMBER;
    return fits && "MNO".indexOf(text[start]) >= 0 ? start : -1;
  }

  @Override
  public void apply(Line line, int at) {
    int from = at + 1;
    int most = Math.min(line.to, from + LONGEST_LAST + 1);
    int length = Alphabet.WORD_DASH.runEnd(line.text, Math.min(from, most), most) - from;
    int start = numberStart(line.text, line.begin(), at - MIDDLE - 1);
    if (start >= 0 && length >= SHORTEST_LAST && length <= LONGEST_LAST) {
      line.mask(start, from + length);
    }
  }
}
