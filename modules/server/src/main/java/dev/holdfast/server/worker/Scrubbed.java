package dev.holdfast.server.worker;

import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.redaction.Scrubber;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes what looks like a secret out of what workers send. The values of a worker's own secrets are
 * not known to the server; the worker has to take those out itself.
 */
final class Scrubbed {
  private static final Scrubber SCRUBBER = Scrubber.knowing(List.of());

  private Scrubbed() {}

  static @Nullable String text(@Nullable String text) {
    return text == null ? null : SCRUBBER.scrub(text);
  }

  static String lines(String before, String text) {
    return SCRUBBER.scrubAfter(before, text);
  }

  /** Workers scrub steps and events themselves. Scrubbing can make a piece of the log longer. */
  static Report report(Report report) {
    return switch (report) {
      case Report.Log(var lease, var piece, var text) ->
          new Report.Log(lease, piece, Text.excerpt(SCRUBBER.scrub(text), Limits.LOG_PIECE_CHARS));
      case Report.Progress(var lease, var percent, var message) ->
          new Report.Progress(lease, percent, text(message));
      case Report.Event event -> event;
      case Report.Step step -> step;
      case Report.Version version -> version;
    };
  }

  private static Failure failure(Failure failure) {
    return failure.scrubbed(SCRUBBER::scrub);
  }

  static Suspension suspension(Suspension suspension) {
    return new Suspension(
        suspension.lease(), suspension.index(), suspension.asked().scrubbed(SCRUBBER::scrub));
  }

  static Settlement settlement(Settlement settlement) {
    return settlement instanceof Settlement.Fail fail
        ? new Settlement.Fail(fail.lease(), failure(fail.failure()), fail.retryAfter())
        : settlement;
  }

  static Completion completion(Completion completion) {
    return new Completion(
        settlement(completion.settlement()),
        completion.outcome(),
        completion.digest(),
        completion.worker(),
        completion.completedAt(),
        completion.metrics(),
        completion.partialProgress(),
        completion.cancelledDuringPhase());
  }
}
