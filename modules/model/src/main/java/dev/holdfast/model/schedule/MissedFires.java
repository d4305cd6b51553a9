package dev.holdfast.model.schedule;

/** What to do about times at which no process ran to fire a schedule. */
public enum MissedFires {
  /** One job for all of them. */
  ONCE,
  /** They are let go; the next time is the next. */
  SKIP,
  /** A job for each of them. */
  ALL
}
