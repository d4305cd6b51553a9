package dev.holdfast.model.wait;

/** The sorts of waits, as they are stored and shown. */
public enum WaitSort {
  /** For a time. */
  SLEEP,
  /** For a signal of a name. */
  SIGNAL,
  /** For the decision of a person. */
  APPROVAL,
  /** For the end of jobs that this one has started. */
  CHILDREN
}
