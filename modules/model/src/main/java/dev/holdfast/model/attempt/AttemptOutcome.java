package dev.holdfast.model.attempt;

/** How one attempt ended. */
public enum AttemptOutcome {
  RUNNING,
  SUCCEEDED,
  FAILED,
  /** The lease ran out: the worker died or could not be heard. */
  CRASHED,
  RELEASED,
  SNOOZED,
  CANCELLED
}
