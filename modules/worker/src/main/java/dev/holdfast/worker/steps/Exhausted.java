package dev.holdfast.worker.steps;

import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;

/** How a job fails whose step cannot be healed here: back to the queue, or for good. */
final class Exhausted {
  private Exhausted() {}

  /**
   * @param lastLines what it printed last, kept where other failures have their stack trace
   */
  static FailedException of(String step, Decision decision, String message, String lastLines) {
    FailureCategory category =
        switch (decision.failureClass()) {
          case TRANSIENT_RUNTIME -> FailureCategory.USER_CODE;
          case STUCK_NO_PROGRESS -> FailureCategory.TIMEOUT;
          case DETERMINISTIC_CONTRACT -> FailureCategory.DATA_QUALITY;
          case DETERMINISTIC_POLICY, DETERMINISTIC_REPO -> FailureCategory.CONFIGURATION;
        };
    return new FailedException(
        new Failure(
            category,
            decision.failureClass().name(),
            "step '%s': %s: %s".formatted(step, decision.because(), message),
            lastLines.isEmpty() ? null : lastLines,
            decision.strategy() == Strategy.QUEUE_RETRY));
  }
}
