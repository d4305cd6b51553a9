package dev.holdfast.redaction;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hides secrets in text before it is kept anywhere: those whose value is known, those of a known
 * form, and those whose name says it. What it replaces by {@code ***} is the secret alone, so that
 * a reader still sees what stood there.
 *
 * <p>Text is made {@link TerminalText plain} first: a colour within a secret would hide it from
 * here and from nobody else. What comes out has no escape sequences and is to be kept as it is; it
 * is shortened afterwards only.
 *
 * <p>Known values are found as they are, in base64 (also within a longer text), in hexadecimal, in
 * these two also of UTF-16, percent-encoded and escaped as in JSON, XML and shells; those of
 * several lines line by line, and those that were wrapped in all of their lines. Values shorter
 * than six characters, numbers shorter than eight, one character repeated and everyday words are
 * not looked for: a log in which each "true" is hidden cannot be read.
 *
 * <p>Its time is linear in the text's length. To scrub what is scrubbed changes nothing, except
 * perhaps in lines of more than 16 Ki characters.
 */
public final class Scrubber {
  private static final int MOST_PASSES = 4;

  private static final int SHORTEST_CUT = 4;
  private static final String CUT = "…";

  private final Triggers triggers;
  private final PatchSearch known;
  private final List<String> written;
  private final WrappedValues wrapped;

  private Scrubber(Triggers triggers, Collection<String> secrets) {
    this.triggers = triggers;
    this.known = new PatchSearch(secrets);
    this.written = KnownValues.written(secrets);
    this.wrapped = new WrappedValues(written);
  }

  public static Scrubber knowing(Collection<String> secrets) {
    List<Rule> rules = new ArrayList<>(KnownValues.rules(secrets));
    rules.addAll(SecretFamilies.rules());
    rules.addAll(NamedSecret.rules());
    return new Scrubber(new Triggers(rules), secrets);
  }

  /**
   * Whether the file holds one of the known values, in any of the forms in which it is searched.
   */
  public boolean findsIn(Path file) throws IOException {
    return known.isIn(file);
  }

  public String scrub(String text) {
    StringBuilder scrubbed = new StringBuilder(text.length());
    try (ScrubbingStream stream =
        new ScrubbingStream(this, triggers, wrapped, scrubbed::append, text.length())) {
      stream.write(text.endsWith(CUT) ? withoutHalfASecret(text) : text);
    }
    return scrubbed.toString();
  }

  /**
   * The same for whole lines that come after others, scrubbed already: a private key that began
   * there goes on here. Everything else is found within a line.
   */
  public String scrubAfter(String before, String text) {
    return scrub(PrivateKey.isOpen(before) ? text.substring(PrivateKey.rest(text)) : text);
  }

  /** Of a text that was cut before it came here the last word may be the half of a known value. */
  private String withoutHalfASecret(String text) {
    int end = text.length() - CUT.length();
    int start = end;
    for (String value : written) {
      for (int length = Math.min(value.length() - 1, end); length >= SHORTEST_CUT; length--) {
        if (text.startsWith(value.substring(0, length), end - length)) {
          start = Math.min(start, end - length);
          break;
        }
      }
    }
    return start == end ? text : text.substring(0, start) + Line.MASK + CUT;
  }

  /**
   * Hands the sink what {@link #scrub} would make of all that is written, as early as it is safe.
   */
  public ScrubbingStream stream(Consumer<String> sink) {
    return new ScrubbingStream(this, triggers, wrapped, sink, Integer.MAX_VALUE);
  }

  /** The texts in what was read from JSON; names stay. */
  public Object scrubTexts(Object value) {
    return switch (value) {
      case String text -> scrub(text);
      case List<?> list -> {
        List<@Nullable Object> scrubbed = new ArrayList<>();
        list.forEach(one -> scrubbed.add(one == null ? null : scrubTexts(one)));
        yield scrubbed;
      }
      case Map<?, ?> map -> {
        Map<Object, @Nullable Object> scrubbed = new LinkedHashMap<>();
        map.forEach((name, one) -> scrubbed.put(name, one == null ? null : scrubTexts(one)));
        yield scrubbed;
      }
      default -> value;
    };
  }

  Rule rule(int index) {
    return triggers.rule(index);
  }

  /** What was hidden may have parted a secret from its name, or be a part of another one. */
  String again(String line) {
    String now = line;
    for (int pass = 0; pass < MOST_PASSES; pass++) {
      String next = once(now);
      if (next.equals(now)) {
        break;
      }
      now = next;
    }
    return now;
  }

  private String once(String text) {
    Line line = Line.of(text);
    Triggers.Walk walk = triggers.new Walk();
    int at = -1;
    while ((at = walk.advance(line.text, at + 1, line.to)) < line.to) {
      for (int index : walk.found()) {
        Rule rule = rule(index);
        int start = at + 1 - rule.trigger().length();
        if (rule.mayApply(line.text, 0, start)) {
          rule.apply(line, start);
        }
      }
    }
    return line.scrubbed(line.to);
  }
}
