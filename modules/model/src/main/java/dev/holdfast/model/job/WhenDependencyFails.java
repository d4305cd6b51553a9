package dev.holdfast.model.job;

/** What becomes of a waiting job when one it depends on ends FAILED or CANCELLED. */
public enum WhenDependencyFails {
  /** It is cancelled, and so are those that wait for it. */
  CANCEL,
  /** It fails with {@link Failure#DEPENDENCY_FAILED}. */
  FAIL,
  /** It runs all the same, once all of them have ended. */
  RUN
}
