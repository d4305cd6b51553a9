package dev.holdfast.model.job;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.util.regex.Pattern;

/**
 * The header {@code traceparent} of W3C Trace Context, by which a trace continues from one service
 * to the next. The worker gets the value that was given at the enqueue; {@code
 * holdfast-opentelemetry} makes spans of both.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Traceparent {
  private static final int LENGTH = 55;
  private static final int MOST_CHARS = Limits.KEY_CHARS;

  // Version, trace id, span id and flags. Ids of zeros and version ff are invalid. Later versions
  // may append fields after another dash.
  private static final Pattern FORM =
      Pattern.compile(
          "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?");

  private Traceparent() {}

  public static boolean isOne(String text) {
    return text.length() <= MOST_CHARS
        && FORM.matcher(text).matches()
        && (text.length() == LENGTH || !text.startsWith("00"));
  }

  static String checked(String text) {
    if (!isOne(text)) {
      throw new RefusedException(
          Refusal.BAD_TRACEPARENT,
          "traceparent '%s' is not as W3C Trace Context has it, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
              .formatted(Text.excerpt(text, 60)));
    }
    return text;
  }
}
