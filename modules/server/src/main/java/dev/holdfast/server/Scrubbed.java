package dev.holdfast.server;

import dev.holdfast.model.Failure;
import dev.holdfast.model.Settlement;
import dev.holdfast.steps.Scrubber;
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

  static Failure failure(Failure failure) {
    return failure.scrubbed(SCRUBBER::scrub);
  }

  static Settlement settlement(Settlement settlement) {
    return settlement instanceof Settlement.Fail fail
        ? new Settlement.Fail(fail.lease(), failure(fail.failure()), fail.retryAfter())
        : settlement;
  }
}
