package dev.holdfast.model.wait;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a job waits for whose handler has suspended it.
 *
 * @param id of the wait, among the steps of the job
 * @param signal the name of the signal it waits for
 * @param until when it is over by itself; null without a bound
 * @param question that somebody is asked
 * @param started the ids under which the jobs were started that it waits for
 */
public record OpenWait(
    String id,
    WaitSort sort,
    @Nullable String signal,
    Instant since,
    @Nullable Instant until,
    @Nullable Asked question,
    List<String> started) {
  /**
   * What somebody is asked.
   *
   * @param role who may decide: this role, and those above it
   * @param afterwards what happens when nobody has decided in time
   */
  public record Asked(
      String text, String details, Question.Decider role, Question.Unanswered afterwards) {}

  public OpenWait {
    started = started == null ? List.of() : List.copyOf(started);
  }

  /** In words, without the time. */
  public String text() {
    return switch (sort) {
      case SLEEP -> "a time ('" + id + "')";
      case SIGNAL -> "the signal '" + signal + "'";
      case APPROVAL ->
          "a decision of role %s on '%s': %s"
              .formatted(
                  question == null ? "operator" : question.role().word(),
                  id,
                  question == null ? "" : question.text());
      case CHILDREN -> "jobs that it has started as " + String.join(", ", started);
    };
  }
}
