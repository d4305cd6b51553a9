package dev.holdfast.model.wait;

import dev.holdfast.model.value.JsonFields;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A wait as programs and payloads write it, in the words of the worker contract: {@code {"id":
 * "release", "sort": "approval", "question": "Ship it?", "withinMs": 86400000}}.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class WaitForm {
  private WaitForm() {}

  /**
   * Reads a wait; what else is in the object is for the caller to read.
   *
   * @param sortField which field has the sort
   */
  public static Wait read(JsonFields fields, String sortField) {
    WaitSort sort = sort(fields, sortField);
    String id = fields.text("id");
    return switch (sort) {
      case SLEEP -> sleep(fields, id);
      case SIGNAL -> new Wait.ForSignal(id, fields.text("signal"), within(fields));
      case APPROVAL -> new Wait.ForApproval(id, question(fields));
      case CHILDREN ->
          new Wait.ForChildren(
              id,
              fields.texts("started"),
              fields.flag("any"),
              fields.flag("failFast"),
              within(fields));
    };
  }

  private static WaitSort sort(JsonFields fields, String field) {
    String word = fields.text(field);
    return Stream.of(WaitSort.values())
        .filter(each -> each.name().equalsIgnoreCase(word))
        .findFirst()
        .orElseThrow(() -> fields.wrong(field, "must be sleep, signal, approval or children"));
  }

  private static Wait sleep(JsonFields fields, String id) {
    Instant until = fields.momentOrNull("until");
    Duration within = within(fields);
    if (until != null && within != null) {
      throw fields.wrong("until", "and 'withinMs' cannot both be given");
    }
    return until == null
        ? new Wait.Sleep(id, fields.present("withinMs", within))
        : new Wait.SleepUntil(id, until);
  }

  private static @Nullable Duration within(JsonFields fields) {
    Long millis = fields.wholeOrNull("withinMs");
    return millis == null ? null : Limits.delay("field 'withinMs'", Duration.ofMillis(millis));
  }

  /** A text with more beside it, or an object that has all. */
  private static Question question(JsonFields fields) {
    Object given = fields.value("question");
    if (given == null || given instanceof String) {
      return question(fields, fields.text("question"), within(fields));
    }
    try {
      JsonFields own = JsonFields.of(given);
      Question question = question(own, own.text("text"), within(fields));
      own.end();
      return question;
    } catch (RefusedException refused) {
      throw refused.at("field 'question'");
    }
  }

  private static Question question(JsonFields fields, String text, @Nullable Duration within) {
    String details = fields.textOrNull("details");
    String role = fields.textOrNull("role");
    return new Question(
        text,
        details == null ? "" : details,
        role == null ? Question.Decider.OPERATOR : decider(fields, role),
        within,
        afterwards(fields));
  }

  private static Question.Decider decider(JsonFields fields, String word) {
    return Stream.of(Question.Decider.values())
        .filter(each -> each.name().equalsIgnoreCase(word))
        .findFirst()
        .orElseThrow(() -> fields.wrong("role", "must be operator or admin"));
  }

  private static Question.Unanswered afterwards(JsonFields fields) {
    String word = fields.textOrNull("afterwards");
    if (word == null) {
      return Question.Unanswered.REJECT;
    }
    try {
      return Question.Unanswered.valueOf(word.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException unknown) {
      throw fields.wrong("afterwards", "must be reject, approve or fail");
    }
  }
}
