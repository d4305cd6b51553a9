package dev.holdfast.model.ops;

import dev.holdfast.model.value.Text;
import java.time.Instant;

/**
 * Why the tasks of a queue cannot be pushed to their worker.
 *
 * @param cause in a few words
 * @param circuitOpen whether pushing has stopped after many failures, except for single tries
 */
public record DispatchError(Kind kind, String cause, boolean circuitOpen, Instant since) {
  private static final int CAUSE_CHARS = 200;

  /** What is wrong. */
  public enum Kind {
    /** The worker does not answer, or not in time. */
    UNREACHABLE,
    /** The worker answers but accepts no tasks at present. */
    FAILING,
    /** The worker does not accept the dispatch secret. */
    SECRET_REFUSED,
    /** The host is not among those that servers may push to. */
    NOT_ALLOWED
  }

  public DispatchError {
    cause = Text.excerpt(cause, CAUSE_CHARS);
  }
}
