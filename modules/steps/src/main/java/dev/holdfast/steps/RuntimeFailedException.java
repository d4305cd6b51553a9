package dev.holdfast.steps;

/** A runtime ended badly. What it said last is what it is known by. */
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
