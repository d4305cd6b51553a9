package dev.holdfast.worker.handler;

/** Thrown at a check to leave a handler that was told to stop. */
public final class CancelledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CancelledException(String reason) {
    super(reason);
  }
}
