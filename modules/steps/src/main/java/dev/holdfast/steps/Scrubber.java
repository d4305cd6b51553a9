package dev.holdfast.steps;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * Hides secrets in text before it is kept anywhere: those whose value is known, those of a known
 * form, and those whose name says it. What it replaces by {@code ***} is the secret alone, so that
 * a reader still sees what stood there.
 *
 * <p>Known values are found as they are, in base64 (also within a longer text), percent-encoded and
 * escaped as in JSON; those of several lines line by line. Values shorter than six characters,
 * numbers shorter than eight, one character repeated and everyday words are not looked for: a log
 * in which each "true" is hidden cannot be read.
 *
 * <p>Its time is linear in the text's length. To scrub what is scrubbed changes nothing, except
 * perhaps in lines of more than 16 Ki characters.
 */
public final class Scrubber {
  private static final int MOST_PASSES = 4;

  private static final int SHORTEST = 6;

  private final Triggers triggers;
  private final List<byte[]> known;

  private Scrubber(Triggers triggers, Collection<String> secrets) {
    this.triggers = triggers;
    this.known =
        secrets.stream()
            .filter(secret -> secret.length() >= SHORTEST)
            .map(secret -> secret.getBytes(StandardCharsets.UTF_8))
            .toList();
  }

  public static Scrubber knowing(Collection<String> secrets) {
    List<Rule> rules = new ArrayList<>(KnownValues.rules(secrets));
    rules.addAll(SecretFamilies.rules());
    rules.addAll(NamedSecret.rules());
    return new Scrubber(new Triggers(rules), secrets);
  }

  /** Changes cannot be scrubbed and stay what they are: with a known secret they are refused. */
  void check(Path patch) throws IOException {
    for (byte[] secret : known) {
      if (contains(patch, secret)) {
        throw new StepException(
            FailureClass.DETERMINISTIC_POLICY,
            "the changes hold a secret of this worker: take it out of the files");
      }
    }
  }

  private static boolean contains(Path file, byte[] wanted) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    for (int at = 0; at <= bytes.length - wanted.length; at++) {
      if (Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
        return true;
      }
    }
    return false;
  }

  public String scrub(String text) {
    StringBuilder scrubbed = new StringBuilder(text.length());
    try (ScrubbingStream stream =
        new ScrubbingStream(this, triggers, scrubbed::append, text.length())) {
      stream.write(text);
    }
    return scrubbed.toString();
  }

  /**
   * Hands the sink what {@link #scrub} would make of all that is written, as early as it is safe.
   */
  public ScrubbingStream stream(Consumer<String> sink) {
    return new ScrubbingStream(this, triggers, sink, Integer.MAX_VALUE);
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
