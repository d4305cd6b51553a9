package dev.holdfast.worker.source;

/**
 * The source cannot be reached now. Held jobs go on; the call is made again later. A source logs
 * that it is away, and that it is back, itself and once: those who get this say nothing more.
 */
public sealed class SourceUnavailableException extends RuntimeException
    permits SourceBusyException {
  private static final long serialVersionUID = 1L;

  public SourceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
