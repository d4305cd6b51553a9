package dev.holdfast.model.attempt;

/** The answer to every fenced write. Not an exception: losing a lease is an ordinary outcome. */
public enum Ack {
  ACCEPTED,
  /** Another attempt, a reaper or a cancellation was first. Nothing was changed. */
  LEASE_LOST
}
