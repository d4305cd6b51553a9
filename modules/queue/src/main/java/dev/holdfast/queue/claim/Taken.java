package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.LeasedJob;
import java.util.List;

/**
 * What one way to claim has found.
 *
 * @param whenEmpty a suspect waits until the worker is empty
 * @param byRules the next claim probably has to go by rules, too
 */
record Taken(List<LeasedJob> jobs, boolean whenEmpty, boolean byRules) {
  /** A claim that does not go by rules. */
  static Taken of(List<ClaimedRow> rows) {
    return new Taken(ClaimedRow.inOrder(rows), false, false);
  }

  Taken with(List<LeasedJob> others) {
    return new Taken(others, whenEmpty, byRules);
  }

  boolean isEmpty() {
    return jobs.isEmpty();
  }
}
