package dev.holdfast.model;

/** Bounds for text that comes from outside. */
public final class Text {
  private Text() {}

  /** Whether every surrogate has its other half; encoded as UTF-8, one alone becomes '?'. */
  public static boolean isWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)
          && (Character.isLowSurrogate(c)
              || ++i == text.length()
              || !Character.isLowSurrogate(text.charAt(i)))) {
        return false;
      }
    }
    return true;
  }

  /**
   * At most {@code max} characters, marked when cut, and without the NUL PostgreSQL cannot hold.
   */
  public static String excerpt(String text, int max) {
    String clean = text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD');
    if (clean.length() <= max) {
      return clean;
    }
    int end = max - 1;
    if (end > 0 && Character.isHighSurrogate(clean.charAt(end - 1))) {
      end--; // half a character is no character
    }
    return clean.substring(0, end) + "…";
  }
}
