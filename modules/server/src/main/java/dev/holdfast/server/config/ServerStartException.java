package dev.holdfast.server.config;

import org.jspecify.annotations.Nullable;

/** The server cannot start. The message says what to do. */
public final class ServerStartException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kinds of reasons. */
  public enum Reason {
    PORT_TAKEN,
    /** It would listen beyond loopback while there are no keys. */
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
