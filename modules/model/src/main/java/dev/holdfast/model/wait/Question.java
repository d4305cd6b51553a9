package dev.holdfast.model.wait;

import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.value.Text;
import java.time.Duration;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a person is asked by a job that waits.
 *
 * @param text the question
 * @param details more to read before deciding
 * @param role who may decide: this role, and those above it
 * @param within how long it may take; null without a bound
 * @param afterwards what happens when nobody has decided by then
 */
public record Question(
    String text, String details, Decider role, @Nullable Duration within, Unanswered afterwards) {
  /** The roles that may decide. */
  public enum Decider {
    OPERATOR,
    ADMIN;

    /** As the role is called elsewhere. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The role of this name. */
    public static Decider of(String word) {
      return Stream.of(values())
          .filter(each -> each.word().equals(word))
          .findFirst()
          .orElseThrow(
              () ->
                  new RefusedException(
                      Refusal.BAD_NAME,
                      "who may decide is the role operator or admin, and not '"
                          + Text.excerpt(word, 60)
                          + "'"));
    }
  }

  /** What happens when nobody has decided in time. */
  public enum Unanswered {
    /** As if somebody had rejected it. */
    REJECT,
    /** As if somebody had approved it. */
    APPROVE,
    /** The job fails. */
    FAIL
  }

  public Question {
    if (text.isBlank() || text.length() > Limits.REASON_CHARS || !isStorable(text)) {
      throw new RefusedException(
          Refusal.BAD_REASON,
          "a question must have 1 to %,d characters, no NUL and no half of a surrogate pair"
              .formatted(Limits.REASON_CHARS));
    }
    if (details.length() > Limits.MESSAGE_CHARS || !isStorable(details)) {
      throw new RefusedException(
          Refusal.BAD_REASON,
          "the details of a question may have %,d characters, no NUL and no half of a surrogate pair"
              .formatted(Limits.MESSAGE_CHARS));
    }
    if (within != null) {
      Limits.delay("within", within);
    }
  }

  private static boolean isStorable(String text) {
    return text.indexOf('\0') < 0 && Text.isWellFormed(text);
  }

  /** For operators, without a bound in time. */
  public static Question of(String text) {
    return new Question(text, "", Decider.OPERATOR, null, Unanswered.REJECT);
  }

  public Question details(String value) {
    return new Question(text, value, role, within, afterwards);
  }

  public Question role(Decider value) {
    return new Question(text, details, value, within, afterwards);
  }

  /** Scrubbing can make a text longer. */
  Question scrubbed(UnaryOperator<String> scrub) {
    return new Question(
        Text.excerpt(Text.wellFormed(scrub.apply(text)), Limits.REASON_CHARS),
        Text.excerpt(Text.wellFormed(scrub.apply(details)), Limits.MESSAGE_CHARS),
        role,
        within,
        afterwards);
  }

  /** It counts as rejected when nobody has decided by then. */
  public Question within(Duration value) {
    return within(value, Unanswered.REJECT);
  }

  public Question within(Duration value, Unanswered then) {
    return new Question(text, details, role, value, then);
  }
}
