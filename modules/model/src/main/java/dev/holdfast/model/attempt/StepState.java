package dev.holdfast.model.attempt;

/** The state of a step. */
public enum StepState {
  RUNNING,
  DONE,
  FAILED,
  /** Cut off with its worker. */
  INTERRUPTED
}
