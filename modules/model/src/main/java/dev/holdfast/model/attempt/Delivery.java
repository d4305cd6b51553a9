package dev.holdfast.model.attempt;

/** Whether a pushed attempt is known to have reached its worker. */
public enum Delivery {
  /** It is held, and its worker has sent neither a start nor a heartbeat. */
  UNCONFIRMED,
  /** It is held, and its worker has sent a start or a heartbeat. */
  CONFIRMED,
  /** It was settled, cancelled or reaped. */
  ENDED
}
