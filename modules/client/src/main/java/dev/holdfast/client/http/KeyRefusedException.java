package dev.holdfast.client.http;

/** The server does not accept the API key for what was asked. The message says what to do. */
public final class KeyRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public KeyRefusedException(String message, Throwable cause) {
    super(message, cause);
  }
}
