package dev.holdfast.contract.operate;

import org.jspecify.annotations.Nullable;

/** The database or a server did not do what it was asked. The message is for the operator. */
public final class OperatorException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. */
  public enum Reason {
    /** The server does not answer, or says that its database does not. */
    AWAY,
    /** The key is missing, wrong, or not enough. */
    NOT_ALLOWED,
    NOT_FOUND,
    /** The request was understood and refused. */
    REFUSED,
    /** What answers is not a Holdfast server, or it failed. */
    BROKEN
  }

  private final Reason reason;

  public OperatorException(Reason reason, String message) {
    this(reason, message, null);
  }

  public OperatorException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
