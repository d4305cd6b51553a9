package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/** The answer to an attempt that asks to wait. */
public sealed interface WaitAnswer {
  /**
   * What it would wait for is there already: the attempt continues.
   *
   * @param payload of the signal that has ended it
   */
  record Over(WaitEnd end, @Nullable Json payload) implements WaitAnswer {}

  /** The attempt has ended; a later one continues when the wait is over. */
  record Suspended() implements WaitAnswer {}

  /** The attempt no longer holds the job. Nothing was changed. */
  record LeaseLost() implements WaitAnswer {}

  WaitAnswer SUSPENDED = new Suspended();
  WaitAnswer LEASE_LOST = new LeaseLost();
}
