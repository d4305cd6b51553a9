package dev.holdfast.model.value;

import java.util.regex.Pattern;

/**
 * Bounds for text that comes from outside.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Text {
  // Colours and the like: they begin with ESC, or with one character that stands for ESC [.
  private static final Pattern ESCAPE_SEQUENCE =
      Pattern.compile(
          "(?:\\x1B\\[|\\x9B)[0-?]*[ -/]*[@-~]" // such as ESC [ 31 m
              + "|\\x1B\\][^\\x07\\x1B]*(?:\\x07|\\x1B\\\\)?" // a title, or a link
              + "|\\x1B[ -/]*[0-~]?");

  // What turns the direction of text around can make a line look like another.
  private static final Pattern UNPRINTABLE =
      Pattern.compile("[\\p{Cc}&&[^\\n\\t]]|[\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069\\uFEFF]");

  private Text() {}

  /** What may be shown anywhere: lines of text, without colours, and with a dot for a control. */
  public static String inert(String text) {
    if (isPlain(text)) {
      return text;
    }
    String uncoloured = ESCAPE_SEQUENCE.matcher(text).replaceAll("");
    return UNPRINTABLE.matcher(uncoloured).replaceAll("·");
  }

  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < ' ' && c != '\n' && c != '\t') || (c >= 0x7F && (c < 0xA0 || c >= 0x200E))) {
        return false;
      }
    }
    return true;
  }

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
