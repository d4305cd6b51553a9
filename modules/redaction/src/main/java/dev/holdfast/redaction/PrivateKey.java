package dev.holdfast.redaction;

import java.util.regex.Pattern;

/** A private key's text form, over many lines or in one with escaped line ends. */
record PrivateKey() implements Rule {
  /** More than this is no key: a key without an end must not hide the rest of the text. */
  static final int LONGEST = 16 << 10;

  static final String END = "-----END";
  private static final String BEGIN = "-----BEGIN ";
  private static final String DASHES = "-----";
  private static final int LONGEST_LABEL = 48;
  private static final Alphabet LABEL = Alphabet.of("A-Z0-9 ");

  private static final Pattern OPEN =
      Pattern.compile(
          ".*" + BEGIN + "[A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*" + DASHES + Pattern.quote(Line.MASK));
  private static final Pattern BODY =
      Pattern.compile("[A-Za-z0-9+/=]{0,80}\\s*|(?:Proc-Type|DEK-Info):.*");

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

  /** Whether a key has begun in the last line of a scrubbed text, and not ended there. */
  static boolean isOpen(String scrubbed) {
    String text = scrubbed.stripTrailing();
    return OPEN.matcher(text.substring(text.lastIndexOf('\n') + 1)).matches();
  }

  /** How much of a text may be what follows of a key: whole lines, up to the first other one. */
  static int rest(String text) {
    int at = 0;
    while (at < text.length()) {
      int end = text.indexOf('\n', at);
      int next = end < 0 ? text.length() : end + 1;
      if (!BODY.matcher(text.substring(at, end < 0 ? next : end)).matches()) {
        break;
      }
      at = next;
    }
    return at;
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
