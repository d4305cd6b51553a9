package dev.holdfast.contract;

import org.jspecify.annotations.Nullable;

/** What a server did not do, in a sentence for whoever asked. */
public final class ControlException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. */
  public enum Reason {
    /** Nobody answers, or the server says that its database does not. */
    AWAY,
    /** The key is missing, wrong, or not enough. */
    NOT_ALLOWED,
    NOT_FOUND,
    /** Understood, and refused. */
    REFUSED,
    /** Something answers, and it is not what we know. */
    BROKEN
  }

  private final Reason reason;

  public ControlException(Reason reason, String message) {
    this(reason, message, null);
  }

  ControlException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
