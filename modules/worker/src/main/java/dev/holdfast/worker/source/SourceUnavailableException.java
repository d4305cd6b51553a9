package dev.holdfast.worker.source;

/**
 * The source cannot be reached now. Running jobs continue; the call is repeated later. A source
 * logs that it is unavailable, and that it is back, itself and once: callers that catch this do not
 * log it.
 */
public sealed class SourceUnavailableException extends RuntimeException
    permits SourceBusyException {
  private static final long serialVersionUID = 1L;

  public SourceUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
