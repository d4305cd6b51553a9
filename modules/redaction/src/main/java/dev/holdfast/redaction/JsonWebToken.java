package dev.holdfast.redaction;

/** Three parts in base64 with dots between them; the first two are JSON objects. */
record JsonWebToken() implements Rule {
  private static final Alphabet ALL = Alphabet.of("A-Za-z0-9_.=-");
  private static final int LONGEST_HEADER = 1 << 10;
  private static final int SHORTEST_PART = 8;

  @Override
  public String trigger() {
    return "eyJ";
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Line.startsWith(text, at, text.length, "eyJ") && Prefixed.beginsWord(text, begin, at);
  }

  @Override
  public void apply(Line line, int at) {
    if (line.masked(at)) {
      return;
    }
    int most = Math.min(line.to, at + LONGEST_HEADER);
    int dot = Alphabet.WORD_DASH.runEnd(line.text, at, most);
    // The second part of an encrypted one is no object, but it has five parts: one is enough to
    // tell it from a file name.
    int second = dot + 1;
    int enough = Math.min(line.to, second + SHORTEST_PART);
    if (dot - at >= SHORTEST_PART
        && line.at(dot) == '.'
        && Alphabet.WORD_DASH.runEnd(line.text, Math.min(second, line.to), enough) - second
            == SHORTEST_PART) {
      line.mask(at, ALL.runEnd(line.text, second, line.to));
    }
  }
}
