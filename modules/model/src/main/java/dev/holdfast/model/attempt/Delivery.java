package dev.holdfast.model.attempt;

/** How far an attempt has come that was handed to a worker which did not ask for it. */
public enum Delivery {
  /** It is held, and nobody was heard of since. */
  UNHEARD,
  /** It is held, and its worker was heard of: a start, or a heartbeat. */
  HEARD,
  /** It has ended, one way or another. */
  ENDED
}
