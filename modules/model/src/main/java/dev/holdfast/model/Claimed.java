package dev.holdfast.model;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a claim.
 *
 * @param jobs in the order they should start
 * @param nextDue when nothing could be claimed: how long until a job of the queue becomes due
 */
public record Claimed(List<LeasedJob> jobs, @Nullable Duration nextDue) {
  public static final Claimed NOTHING = new Claimed(List.of(), null);
}
