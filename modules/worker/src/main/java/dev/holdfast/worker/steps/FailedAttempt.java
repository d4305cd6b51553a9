package dev.holdfast.worker.steps;

import org.jspecify.annotations.Nullable;

/**
 * How one attempt of a step failed, as far as what comes next depends on it.
 *
 * @param signature what failed, without what differs from run to run
 * @param diffHash of what it left in the workspace; null for code steps
 */
public record FailedAttempt(
    int attempt, FailureClass failureClass, String signature, @Nullable String diffHash) {

  /** As it was judged beside the attempts before it. */
  FailedAttempt as(FailureClass judged) {
    return new FailedAttempt(attempt, judged, signature, diffHash);
  }

  /** Whether it failed of the same cause, after the same changes. */
  boolean isLike(FailedAttempt other) {
    return signature.equals(other.signature)
        && (diffHash == null ? other.diffHash == null : diffHash.equals(other.diffHash));
  }
}
