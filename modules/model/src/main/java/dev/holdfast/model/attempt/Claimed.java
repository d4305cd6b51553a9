package dev.holdfast.model.attempt;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a claim.
 *
 * @param jobs in the order they should start
 * @param nextDue when nothing could be claimed: how long until a job of the queue becomes due
 * @param whenEmpty a suspect of a crash, which must run alone, waits until this worker is empty:
 *     until then it should claim nothing, from any queue
 */
public record Claimed(List<LeasedJob> jobs, @Nullable Duration nextDue, boolean whenEmpty) {
  public static final Claimed NOTHING = new Claimed(List.of(), null);

  public Claimed(List<LeasedJob> jobs, @Nullable Duration nextDue) {
    this(jobs, nextDue, false);
  }
}
