package dev.holdfast.worker.steps;

/** A runtime failed. Its message is what the failure is recognised by. */
public final class RuntimeFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailureClass failureClass;
  private final String lastLines;

  public RuntimeFailedException(FailureClass failureClass, String message, String lastLines) {
    super(message, null, false, false);
    this.failureClass = failureClass;
    this.lastLines = lastLines;
  }

  FailureClass failureClass() {
    return failureClass;
  }

  String lastLines() {
    return lastLines;
  }
}
