package dev.holdfast.contract.json;

import org.jspecify.annotations.Nullable;

/** What was sent is not what was agreed on. The message is for the sender. */
public final class WireException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** In which way. */
  public enum Kind {
    /** Not JSON, or not whole. */
    MALFORMED,
    /** Larger or deeper than anything we would read. */
    TOO_LARGE,
    UNKNOWN_FIELD,
    MISSING_FIELD,
    /** A field is there, and its value cannot be. */
    WRONG_VALUE
  }

  private final Kind kind;

  public WireException(Kind kind, String message) {
    this(kind, message, null);
  }

  WireException(Kind kind, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  /** The same, of an entry of a list: the message begins with {@code jobs[3]: }. */
  WireException at(String place) {
    return new WireException(kind, place + ": " + getMessage(), this);
  }

  public Kind kind() {
    return kind;
  }
}
