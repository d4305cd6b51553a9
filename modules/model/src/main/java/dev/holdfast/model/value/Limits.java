package dev.holdfast.model.value;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How large things may be. A limit that is hit gives a typed refusal, never a cut payload.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Limits {
  public static final int PAYLOAD_BYTES = 1 << 20;
  public static final int RESULT_BYTES = 1 << 20;

  /** In a page of jobs; what is longer is left out there, so that a page has a bound. */
  public static final int LISTED_BYTES = 1 << 12;

  public static final int EVENT_BYTES = 1 << 16;
  public static final int RESOURCES_BYTES = 1 << 12;
  public static final int BULK_JOBS = 10_000;
  public static final int BULK_BYTES = 64 << 20;
  public static final int DELAY_DAYS = 36_500;
  public static final int DEPENDENCIES = 1_000;
  public static final int ARTIFACTS = 1_000;
  public static final int STEPS = 1_000;

  /** What the database takes; workers are set to less. */
  public static final int PATCH_BYTES = 64 << 20;

  public static final int ARTIFACT_NAME_BYTES = 200;
  public static final int NAME_CHARS = 100;

  /** A queue is part of a notification channel, and PostgreSQL cuts those at 63 bytes. */
  public static final int QUEUE_CHARS = 48;

  public static final int KEY_CHARS = 255;
  public static final int TAGS = 20;
  public static final int TAG_CHARS = 100;
  public static final int REASON_CHARS = 1_000;
  public static final int MESSAGE_CHARS = 4_000;
  public static final int STACK_TRACE_CHARS = 32_000;
  public static final int PROGRESS_MESSAGE_CHARS = 500;

  /** What programs print is kept in pieces, of whole lines, and only the last of them. */
  public static final int LOG_PIECE_CHARS = 4_096;

  public static final int LOG_PIECES = 16;
  public static final int LOG_LINE_CHARS = 2_000;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.:/-]*");
  // No colon: it separates the parts of a component id, worker:{queue}:{n}.
  private static final Pattern QUEUE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]*");

  private Limits() {}

  public static String queue(String name) {
    return name("queue", name, QUEUE, QUEUE_CHARS, "_ . -");
  }

  public static String kind(String name) {
    return name("kind", name, NAME, NAME_CHARS, "_ . : / -");
  }

  /** Event types, tenants, workspaces: the words that appear in routes and topics. */
  public static String word(String what, String name) {
    return name(what, name, NAME, NAME_CHARS, "_ . : / -");
  }

  public static String stepId(String id) {
    return name("step", id, NAME, NAME_CHARS, "_ . : / -");
  }

  /** One file in the job's own folder: no path, nothing hidden, nothing a file system chokes on. */
  public static String artifactName(String name) {
    if (name.isBlank()
        || name.startsWith(".")
        || !Text.isWellFormed(name)
        || name.indexOf('/') >= 0
        || name.indexOf('\\') >= 0
        || !Text.isOneInertLine(name)
        || name.getBytes(StandardCharsets.UTF_8).length > ARTIFACT_NAME_BYTES) {
      throw new RefusedException(
          Refusal.BAD_NAME,
          "artifact name '%s' must have 1 to %d bytes, no slash, no control character, none that is not seen or turns text around, and no dot in front"
              .formatted(Text.excerpt(Text.inert(name), 60), ARTIFACT_NAME_BYTES));
    }
    return name;
  }

  public static String key(String what, String key) {
    if (key.isBlank()
        || key.length() > KEY_CHARS
        || key.indexOf('\0') >= 0
        || !Text.isWellFormed(key)) {
      throw new RefusedException(
          Refusal.BAD_KEY,
          "%s '%s' must have 1 to %d characters, no NUL and no half of a surrogate pair"
              .formatted(what, Text.excerpt(key, 60), KEY_CHARS));
    }
    return key;
  }

  /** Why an operator asks for something. */
  public static String reason(String reason) {
    if (reason.length() > REASON_CHARS || reason.indexOf('\0') >= 0 || !Text.isWellFormed(reason)) {
      throw new RefusedException(
          Refusal.BAD_REASON,
          "a reason may have %,d characters, no NUL and no half of a surrogate pair"
              .formatted(REASON_CHARS));
    }
    return reason;
  }

  /** The tags of a job: sorted, each once. */
  public static List<String> tags(Collection<String> tags) {
    List<String> sorted = tags.stream().map(Limits::tag).distinct().sorted().toList();
    if (sorted.size() > TAGS) {
      throw new RefusedException(
          Refusal.BAD_TAG,
          "a job may have up to %d tags, and not %,d".formatted(TAGS, sorted.size()));
    }
    return sorted;
  }

  /** One tag: a word that can be typed into a search. */
  public static String tag(String tag) {
    if (tag.isEmpty()
        || tag.length() > TAG_CHARS
        || !Text.isWellFormed(tag)
        || tag.chars()
            .anyMatch(c -> Character.isWhitespace(c) || Character.isISOControl(c) || c == '"')) {
      throw new RefusedException(
          Refusal.BAD_TAG,
          "tag '%s' must have 1 to %d characters, and no blank, quote or control character"
              .formatted(Text.excerpt(tag, 60), TAG_CHARS));
    }
    return tag;
  }

  /** How long something may be put off. */
  public static Duration delay(String what, Duration value) {
    if (value.isNegative() || value.toDays() > DELAY_DAYS) {
      throw new RefusedException(
          Refusal.BAD_DELAY, what + " " + value + " must be zero or more, and a century at most");
    }
    return value;
  }

  /** How many jobs of a queue may run at once; null is no limit. */
  public static void maxRunning(@Nullable Integer maxRunning) {
    if (maxRunning != null && maxRunning < 1) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "a limit of %,d running jobs must be at least 1: to stop a queue, pause it"
              .formatted(maxRunning));
    }
  }

  public static Json payload(Json json) {
    wellFormed(json, Refusal.PAYLOAD_NOT_JSON, "payload");
    return bounded(json, PAYLOAD_BYTES, Refusal.PAYLOAD_TOO_LARGE, "payload");
  }

  public static Json result(Json json) {
    wellFormed(json, Refusal.RESULT_NOT_JSON, "result");
    return bounded(json, RESULT_BYTES, Refusal.RESULT_TOO_LARGE, "result");
  }

  public static Json eventData(Json json) {
    wellFormed(json, Refusal.EVENT_NOT_JSON, "event data");
    return bounded(json, EVENT_BYTES, Refusal.EVENT_TOO_LARGE, "event data");
  }

  /** What a job needs: an object. */
  public static Json resources(Json json) {
    wellFormed(json, Refusal.BAD_RESOURCES, "resources");
    if (!json.text().strip().startsWith("{")) {
      throw new RefusedException(Refusal.BAD_RESOURCES, "resources must be a JSON object");
    }
    return bounded(json, RESOURCES_BYTES, Refusal.BAD_RESOURCES, "resources");
  }

  private static String name(String what, String name, Pattern form, int max, String signs) {
    if (name.length() > max || !form.matcher(name).matches()) {
      throw new RefusedException(
          Refusal.BAD_NAME,
          "%s '%s' must have 1 to %d characters: letters, digits and %s, starting with a letter or digit%s"
              .formatted(what, Text.excerpt(name, 60), max, signs, wrongIn(name, form, max)));
    }
    return name;
  }

  /** What of the name is wrong; an empty one explains itself. */
  private static String wrongIn(String name, Pattern form, int max) {
    if (name.length() > max) {
      return "; it has %,d".formatted(name.length());
    }
    Matcher beginning = form.matcher(name);
    int at = beginning.lookingAt() ? beginning.end() : 0;
    return name.isEmpty()
        ? ""
        : "; %s does not belong there".formatted(shown(name.codePointAt(at)));
  }

  private static String shown(int character) {
    if (character == ' ') {
      return "the space";
    }
    return Character.isISOControl(character) || Character.isWhitespace(character)
        ? "the character U+%04X".formatted(character)
        : "'" + Character.toString(character) + "'";
  }

  /** Other text would be stored changed, without an error. */
  private static void wellFormed(Json json, Refusal refusal, String what) {
    if (!Text.isWellFormed(json.text())) {
      throw new RefusedException(refusal, what + " holds half of a surrogate pair");
    }
  }

  /**
   * How many bytes the document has, numbers written out in full as PostgreSQL does it, or a little
   * more.
   */
  public static long bytes(Json json) {
    return json.text().getBytes(StandardCharsets.UTF_8).length + WrittenOut.growth(json.text());
  }

  private static Json bounded(Json json, int max, Refusal refusal, String what) {
    String text = json.text();
    // Every character takes at least one byte, so most documents need no counting.
    if (text.length() > max
        || (text.length() > max / 3 && text.getBytes(StandardCharsets.UTF_8).length > max)) {
      throw new RefusedException(
          refusal,
          "%s of %,d characters is over the limit of %,d bytes: store it elsewhere and pass a reference"
              .formatted(what, text.length(), max));
    }
    String beyond = WrittenOut.beyondDouble(text);
    if (beyond != null) {
      throw new RefusedException(
          refusal,
          "%s has the number %s, which is larger than 1.7976931348623157e308: most languages cannot read it, so pass it as text"
              .formatted(what, Text.excerpt(beyond, 30)));
    }
    long growth = WrittenOut.growth(text);
    if (growth > 0 && bytes(json) > max) {
      throw new RefusedException(
          refusal,
          "%s of %,d characters is over the limit of %,d bytes once its numbers are written out in full, as they are stored: pass very large and very small ones as text"
              .formatted(what, text.length(), max));
    }
    return json;
  }
}
