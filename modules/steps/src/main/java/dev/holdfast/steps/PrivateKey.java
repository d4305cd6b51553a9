package dev.holdfast.steps;

/** A private key's text form, over many lines or in one with escaped line ends. */
record PrivateKey() implements Rule {
  /** More than this is no key: whoever forgot the end must not silence the rest. */
  static final int LONGEST = 16 << 10;

  static final String END = "-----END";
  private static final String BEGIN = "-----BEGIN ";
  private static final String DASHES = "-----";
  private static final int LONGEST_LABEL = 48;
  private static final Alphabet LABEL = Alphabet.of("A-Z0-9 ");

  @Override
  public String trigger() {
    return BEGIN;
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return Line.startsWith(text, at, text.length, BEGIN);
  }

  @Override
  public void apply(Line line, int at) {
    int body = body(line, at);
    if (body >= 0 && !line.has(Line.MASK, body)) {
      line.privateKeyFrom(body);
    }
  }

  /** Where the key begins that is announced here, or -1. */
  static int body(Line line, int at) {
    if (!line.has(BEGIN, at)) {
      return -1;
    }
    int label = at + BEGIN.length();
    int end = LABEL.runEnd(line.text, label, Math.min(line.to, label + LONGEST_LABEL));
    boolean isPrivate = new String(line.text, label, end - label).contains("PRIVATE KEY");
    return isPrivate && line.has(DASHES, end) ? end + DASHES.length() : -1;
  }
}
