package dev.holdfast.model.value;

import java.util.function.IntFunction;
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

  // Signs of Arabic and its neighbours that are seen, though Unicode counts them as formats.
  private static final String SEEN_FORMATS =
      "\u0600\u0601\u0602\u0603\u0604\u0605\u06DD\u070F\u0890\u0891\u08E2";

  private Text() {}

  /**
   * What may be shown anywhere, a terminal included: lines of text, without escape sequences, and
   * with a dot for each character that is a control, turns the direction of text around, or is not
   * seen.
   */
  public static String inert(String text) {
    if (isPlain(text)) {
      return text;
    }
    return replaced(ESCAPE_SEQUENCE.matcher(text).replaceAll(""), unprintable -> "·");
  }

  /**
   * The text with something else for each character that would not be inert. Line breaks and tabs
   * stay, and so do the joiners within words and pictures.
   */
  public static String replaced(String text, IntFunction<String> instead) {
    if (isPlain(text)) {
      return text;
    }
    StringBuilder shown = new StringBuilder(text.length() + 16);
    int before = ' ';
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (isUnprintable(c, before)) {
        shown.append(instead.apply(c));
        before = ' ';
      } else {
        shown.appendCodePoint(c);
        before = c;
      }
      i += Character.charCount(c);
    }
    return shown.toString();
  }

  /** Whether all of it is seen as it is: one line, and nothing that {@link #inert} would change. */
  public static boolean isOneInertLine(String text) {
    return text.indexOf('\n') < 0 && text.indexOf('\t') < 0 && inert(text).equals(text);
  }

  private static boolean isPlain(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < ' ' && c != '\n' && c != '\t') || (c >= 0x7F && (c <= 0xAD || c >= 0x34F))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isUnprintable(int c, int before) {
    if (c == '\n' || c == '\t') {
      return false;
    }
    if (isJoining(c)) {
      // Scripts and pictures are joined by these; between ASCII letters they only hide.
      return before < 0x80;
    }
    return Character.isISOControl(c) || isUnseen(c);
  }

  /** Takes no place in a line, or turns its direction around; not those that join. */
  public static boolean isUnseen(int c) {
    return switch (Character.getType(c)) {
      case Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
      case Character.FORMAT -> SEEN_FORMATS.indexOf(c) < 0 && !isJoining(c);
      default -> c == 0x2065;
    };
  }

  /** Part of scripts and of pictures, and of nothing that is written in ASCII. */
  public static boolean isJoining(int c) {
    return c == 0x200C
        || c == 0x200D
        || c == 0x34F
        || (c >= 0x180B && c <= 0x180F)
        || (c >= 0xFE00 && c <= 0xFE0F)
        || c == 0x115F
        || c == 0x1160
        || c == 0x17B4
        || c == 0x17B5
        || c == 0x3164
        || c == 0xFFA0
        || (c >= 0xE0000 && c <= 0xE0FFF);
  }

  /** The text with another character for each surrogate that lacks its other half. */
  public static String wellFormed(String text) {
    return isWellFormed(text)
        ? text
        : text.codePoints()
            .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
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
