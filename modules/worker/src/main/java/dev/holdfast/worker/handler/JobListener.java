package dev.holdfast.worker.handler;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;

/**
 * Told what a worker does, on the worker's own threads: be quick. What a listener throws is logged
 * and goes no further.
 */
public interface JobListener {
  /** A handler begins. */
  default void started(LeasedJob job, String worker) {}

  /**
   * An attempt ended; {@link Ack#LEASE_LOST} means that the ending came too late and was refused.
   * The next attempt may have started meanwhile, here or elsewhere.
   */
  default void settled(LeasedJob job, Settlement settlement, Ack ack) {}

  /** The handler waits for something, and its attempt has ended; another one will continue. */
  default void suspended(LeasedJob job) {}

  /** The attempt lost its lease and had nothing to settle. */
  default void lost(LeasedJob job) {}
}
