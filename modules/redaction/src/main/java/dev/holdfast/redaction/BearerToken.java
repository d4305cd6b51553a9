package dev.holdfast.redaction;

/** "Bearer" and a token, where no header's name goes before. */
record BearerToken() implements Rule {
  private static final Alphabet TOKEN = Alphabet.of("A-Za-z0-9._~+/=-");
  private static final int SHORTEST = 16;

  @Override
  public String trigger() {
    return "bearer ";
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Prefixed.beginsWord(text, begin, at);
  }

  @Override
  public void apply(Line line, int at) {
    if (line.masked(at)) {
      return;
    }
    int from = at + trigger().length();
    int checked = TOKEN.runEnd(line.text, from, Math.min(line.to, from + 256));
    String token = new String(line.text, from, checked - from);
    if (token.length() >= SHORTEST && token.chars().anyMatch(Character::isDigit)) {
      line.mask(from, TOKEN.runEnd(line.text, checked, line.to));
    }
  }
}
