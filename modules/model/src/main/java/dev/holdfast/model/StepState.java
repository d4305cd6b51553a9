package dev.holdfast.model;

/** Where a step stands. */
public enum StepState {
  RUNNING,
  DONE,
  FAILED,
  /** Cut off with its worker. */
  INTERRUPTED
}
