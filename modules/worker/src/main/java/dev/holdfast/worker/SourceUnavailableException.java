package dev.holdfast.worker;

/** The source cannot be reached now. Held jobs go on; the call is made again later. */
public sealed class SourceUnavailableException extends RuntimeException
    permits SourceBusyException {
  private static final long serialVersionUID = 1L;

  public SourceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
