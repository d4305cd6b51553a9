package dev.holdfast.worker.steps;

/**
 * What a step needs before it begins could not be had now: a repository's server is away, a disk is
 * full. No attempt of the step was made, and none counts.
 */
public final class UnpreparedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message redacted
   */
  public UnpreparedException(String message) {
    super(message);
  }
}
