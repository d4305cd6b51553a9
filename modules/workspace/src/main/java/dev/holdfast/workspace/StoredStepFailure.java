package dev.holdfast.workspace;

import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.worker.steps.FailedAttempt;
import dev.holdfast.worker.steps.FailureClass;
import dev.holdfast.worker.steps.Step;
import dev.holdfast.worker.steps.Strategy;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a failed attempt from the timeline, for a worker that did not run it. */
final class StoredStepFailure {
  private StoredStepFailure() {}

  /** Empty when it does not say enough. */
  static Optional<Step.Failed> read(Codec codec, Json failure) {
    try {
      return failed(codec.decode(failure, Map.class));
    } catch (IllegalArgumentException unreadable) {
      return Optional.empty();
    }
  }

  private static Optional<Step.Failed> failed(Map<?, ?> event) {
    String kind = text(event, "failureClass");
    String strategy = text(event, "strategy");
    if (!(event.get("attempt") instanceof Number attempt) || kind == null || strategy == null) {
      return Optional.empty();
    }
    // Its workspace is gone, and what it changed with it.
    return Optional.of(
        new Step.Failed(
            new FailedAttempt(
                attempt.intValue(),
                FailureClass.of(kind),
                String.valueOf(text(event, "failureSignature")),
                text(event, "diffHash")),
            String.valueOf(text(event, "summary")),
            List.of(),
            Strategy.valueOf(strategy.toUpperCase(Locale.ROOT))));
  }

  private static @Nullable String text(Map<?, ?> event, String name) {
    return event.get(name) instanceof String text ? text : null;
  }
}
