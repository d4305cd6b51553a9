package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.model.wait.Wait;

/**
 * An attempt asks to wait.
 *
 * @param index of the wait among the steps of the job, from 1
 * @param asked what it is to wait for
 */
public record Suspension(Lease lease, int index, Wait asked) {
  public Suspension {
    if (index < 1) {
      throw new RefusedException(Refusal.BAD_LIMIT, "steps and waits are counted from 1");
    }
  }
}
