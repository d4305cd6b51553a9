package dev.holdfast.server.lease;

import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.redaction.Scrubber;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What workers in any language send, without what looks like a secret. The values of their secrets
 * are not known here: those are for the worker to hide.
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

  /** Steps and pieces of log come scrubbed by our workers; of others, a piece that grew is cut. */
  static Report report(Report report) {
    return switch (report) {
      case Report.Log(var lease, var piece, var text) ->
          new Report.Log(lease, piece, Text.excerpt(SCRUBBER.scrub(text), Limits.LOG_PIECE_CHARS));
      case Report.Progress(var lease, var percent, var message) ->
          new Report.Progress(lease, percent, text(message));
      case Report.Event event -> event;
      case Report.Step step -> step;
    };
  }

  static Failure failure(Failure failure) {
    return failure.scrubbed(SCRUBBER::scrub);
  }

  static Settlement settlement(Settlement settlement) {
    return settlement instanceof Settlement.Fail fail
        ? new Settlement.Fail(fail.lease(), failure(fail.failure()), fail.retryAfter())
        : settlement;
  }
}
