package dev.holdfast.server.config;

import org.jspecify.annotations.Nullable;

/** Why a server did not start, in a sentence that says what to do. */
public final class ServerStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. */
  public enum Reason {
    PORT_TAKEN,
    /** Beyond loopback without keys. */
    NO_KEYS,
    TLS,
    CONFIGURATION
  }

  private final Reason reason;

  public ServerStartException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  public Reason reason() {
    return reason;
  }
}
