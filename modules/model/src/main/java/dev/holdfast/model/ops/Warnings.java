package dev.holdfast.model.ops;

import java.time.Duration;
import java.util.List;

/**
 * Counts of jobs that an operator should check.
 *
 * @param failed jobs that ended FAILED within the last hour
 * @param toxic those among them that crashed their workers too often
 * @param overdue running jobs whose lease expired long ago and that no reaper has requeued
 * @param unanswered jobs that have asked people for more than {@link #ANSWERED_WITHIN}
 * @param unhandled kinds whose jobs wait because no live worker handles them
 * @param unserved versions that jobs have begun with and no live worker has
 */
public record Warnings(
    long failed,
    long toxic,
    long overdue,
    long unanswered,
    List<UnhandledKind> unhandled,
    List<UnservedVersion> unserved) {
  public static final Duration ANSWERED_WITHIN = Duration.ofDays(1);

  public Warnings {
    unhandled = List.copyOf(unhandled);
    unserved = List.copyOf(unserved);
  }
}
