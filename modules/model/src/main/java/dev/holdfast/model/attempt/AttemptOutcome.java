package dev.holdfast.model.attempt;

/** How one attempt ended. */
public enum AttemptOutcome {
  RUNNING,
  SUCCEEDED,
  FAILED,
  /** The lease expired: the worker died or could not send heartbeats. */
  CRASHED,
  RELEASED,
  SNOOZED,
  /** Its handler waits for something, and the job for what it waits for. */
  SUSPENDED,
  CANCELLED
}
