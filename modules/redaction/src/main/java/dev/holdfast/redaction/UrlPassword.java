package dev.holdfast.redaction;

/**
 * {@code scheme://user:password@host}; without a password, a user name that looks like one is
 * replaced.
 */
record UrlPassword() implements Rule {
  private static final int LONGEST = 1 << 10;
  private static final int LONG_FOR_A_USER = 20;

  @Override
  public String trigger() {
    return "://";
  }

  @Override
  public boolean mayApply(char[] text, int begin, int at) {
    return at > begin && Alphabet.ALNUM.has(text[at - 1]);
  }

  @Override
  public void apply(Line line, int at) {
    int from = at + 3;
    int colon = -1;
    int host = -1;
    int most = Math.min(line.to, from + LONGEST);
    for (int i = from; i < most && !endsAuthority(line.text[i]); i++) {
      if (line.text[i] == ':' && colon < 0) {
        colon = i;
      } else if (line.text[i] == '@') {
        host = i;
      }
    }
    if (host < 0 || line.masked(from)) {
      return;
    }
    int start = colon >= 0 && colon < host ? colon + 1 : from;
    String secret = new String(line.text, start, host - start);
    boolean isUser = start == from;
    if (isUser ? looksLikeToken(secret) : !secret.isEmpty() && !SecretValue.isPlaceholder(secret)) {
      line.mask(start, host);
    }
  }

  private static boolean endsAuthority(char c) {
    return c <= ' ' || "/\"'<>`\\?#".indexOf(c) >= 0;
  }

  private static boolean looksLikeToken(String user) {
    return user.length() >= LONG_FOR_A_USER
        && user.chars().anyMatch(Character::isDigit)
        && user.chars().anyMatch(Character::isLetter);
  }
}
