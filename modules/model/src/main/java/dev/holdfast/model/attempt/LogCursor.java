package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The position of a reader in the log of a job.
 *
 * @param chars how many characters of the piece were read
 */
public record LogCursor(int attempt, int piece, int chars) {
  public static final LogCursor START = new LogCursor(0, 0, 0);

  private static final Pattern FORM = Pattern.compile("(\\d{1,9})\\.(\\d{1,9})\\.(\\d{1,9})");

  public static LogCursor parse(String text) {
    Matcher match = FORM.matcher(text);
    if (!match.matches()) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "the cursor is not one that this server returned for a log");
    }
    return new LogCursor(
        Integer.parseInt(match.group(1)),
        Integer.parseInt(match.group(2)),
        Integer.parseInt(match.group(3)));
  }

  @Override
  public String toString() {
    return attempt + "." + piece + "." + chars;
  }
}
