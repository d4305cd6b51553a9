package dev.holdfast.model.attempt;

/** Where a step stands. */
public enum StepState {
  RUNNING,
  DONE,
  FAILED,
  /** Cut off with its worker. */
  INTERRUPTED
}
