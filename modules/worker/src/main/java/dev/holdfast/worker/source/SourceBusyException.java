package dev.holdfast.worker.source;

/**
 * The source is there, but this call waited too long for something that others hold, such as a
 * locked row. Trying again may help; what else there is to do need not wait for it.
 */
public final class SourceBusyException extends SourceUnavailableException {
  private static final long serialVersionUID = 1L;

  public SourceBusyException(String message, Throwable cause) {
    super(message, cause);
  }
}
