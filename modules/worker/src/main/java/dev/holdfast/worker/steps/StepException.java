package dev.holdfast.worker.steps;

/** Thrown by a step that knows what kind of trouble it has. */
public final class StepException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailureClass failureClass;

  public StepException(FailureClass failureClass, String message) {
    super(message);
    this.failureClass = failureClass;
  }

  public StepException(FailureClass failureClass, String message, Throwable cause) {
    super(message, cause);
    this.failureClass = failureClass;
  }

  public FailureClass failureClass() {
    return failureClass;
  }
}
