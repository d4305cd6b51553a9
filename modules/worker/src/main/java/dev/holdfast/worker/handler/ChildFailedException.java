package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.ChildEnd;

/**
 * Thrown by a wait for jobs when one of them has not succeeded. A handler that lets it out fails
 * for good: another attempt would find the same.
 */
public final class ChildFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient ChildEnd child;

  public ChildFailedException(ChildEnd child) {
    super(
        "job %s, which this one has started, ended %s%s"
            .formatted(
                child.job(),
                child.state(),
                child.failure() == null ? "" : ": " + child.failure().message()));
    this.child = child;
  }

  public ChildEnd child() {
    return child;
  }
}
