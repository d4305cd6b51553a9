package dev.holdfast.model.ops;

import dev.holdfast.model.value.Text;
import java.time.Instant;

/**
 * Why the tasks of a queue do not reach the worker they are pushed to.
 *
 * @param cause in a few words
 * @param paused whether there were so many failures that pushing pauses between single tries
 */
public record DispatchTrouble(Kind kind, String cause, boolean paused, Instant since) {
  private static final int CAUSE_CHARS = 200;

  /** What is wrong. */
  public enum Kind {
    /** Nothing answers there, or not in time. */
    UNREACHABLE,
    /** What answers there does not take tasks at present. */
    FAILING,
    /** What answers there does not accept the dispatch secret. */
    SECRET_REFUSED,
    /** No server may push there. */
    NOT_ALLOWED
  }

  public DispatchTrouble {
    cause = Text.excerpt(cause, CAUSE_CHARS);
  }
}
