package dev.holdfast.redaction;

/** A set of ASCII characters. */
final class Alphabet {
  static final Alphabet ALNUM = of("A-Za-z0-9");
  static final Alphabet WORD = of("A-Za-z0-9_");
  static final Alphabet WORD_DASH = of("A-Za-z0-9_-");
  static final Alphabet DIGIT = of("0-9");
  static final Alphabet HEX = of("0-9a-fA-F");
  static final Alphabet BASE64 = of("A-Za-z0-9+/_-");

  private final boolean[] in = new boolean[128];

  private Alphabet() {}

  /** As between the brackets of a regular expression: a dash that is meant stands last. */
  static Alphabet of(String ranges) {
    Alphabet alphabet = new Alphabet();
    for (int i = 0; i < ranges.length(); i++) {
      char first = ranges.charAt(i);
      boolean range = i + 2 < ranges.length() && ranges.charAt(i + 1) == '-';
      char last = range ? ranges.charAt(i += 2) : first;
      for (char c = first; c <= last; c++) {
        alphabet.in[c] = true;
      }
    }
    return alphabet;
  }

  boolean has(char c) {
    return c < 128 && in[c];
  }

  /** Where the run of such characters ends that begins at {@code from}. */
  int runEnd(char[] text, int from, int to) {
    int i = from;
    while (i < to && has(text[i])) {
      i++;
    }
    return i;
  }
}
