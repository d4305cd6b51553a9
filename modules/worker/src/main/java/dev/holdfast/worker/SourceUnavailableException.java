package dev.holdfast.worker;

/** The source cannot be reached now. Held jobs go on; the call is made again later. */
public final class SourceUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SourceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
