package dev.holdfast.contract.token;

import org.jspecify.annotations.Nullable;

/** A token that is not accepted. */
public final class TokenException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Reason {
    INVALID,
    EXPIRED,
    NOT_YET_VALID
  }

  private final Reason reason;

  TokenException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
