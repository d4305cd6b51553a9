package dev.holdfast.redaction;

/** The bot's number, a colon and 35 characters that begin with AA. The number stays. */
record TelegramToken() implements Rule {
  private static final int LENGTH = 35;
  private static final int SHORTEST_NUMBER = 6;

  @Override
  public String trigger() {
    return ":AA";
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    if (at - begin < SHORTEST_NUMBER || !Line.startsWith(text, at, text.length, ":AA")) {
      return false;
    }
    int first = at - SHORTEST_NUMBER;
    return Alphabet.DIGIT.runEnd(text, first, at) == at;
  }

  @Override
  public void apply(Line line, int at) {
    int from = at + 1;
    int end = Alphabet.WORD_DASH.runEnd(line.text, from, Math.min(line.to, from + LENGTH + 1));
    if (end - from == LENGTH) {
      line.mask(from, end);
    }
  }
}
