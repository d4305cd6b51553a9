package dev.holdfast.client.operate;

import org.jspecify.annotations.Nullable;

/** What a server did not do, in a sentence for whoever asked. */
public final class OperatorException extends RuntimeException {
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

  public OperatorException(Reason reason, String message) {
    this(reason, message, null);
  }

  OperatorException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
