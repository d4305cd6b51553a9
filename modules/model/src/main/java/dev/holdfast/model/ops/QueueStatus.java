package dev.holdfast.model.ops;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue that has settings or unfinished jobs.
 *
 * @param delayed pending jobs that are not due yet
 * @param pausedAt since when it is paused by itself
 * @param workersPausedAt since when all workers are paused, and every queue with them
 * @param oldest how long the first due job has been waiting
 * @param oldestFree the same for jobs without a concurrency key; used by rules, not shown
 * @param pushed whether its tasks are pushed to a worker; used by rules, as is the next
 * @param dispatchError why tasks cannot be pushed
 */
public record QueueStatus(
    String name,
    long due,
    long delayed,
    long retrying,
    long waiting,
    long running,
    @Nullable Integer maxRunning,
    @Nullable RateLimit rateLimit,
    @Nullable Instant pausedAt,
    @Nullable Instant workersPausedAt,
    @Nullable Duration oldest,
    @Nullable Duration oldestFree,
    boolean pushed,
    @Nullable DispatchError dispatchError) {
  /** One that has neither. */
  public static QueueStatus empty(String name, @Nullable Instant workersPausedAt) {
    return new QueueStatus(
        name, 0, 0, 0, 0, 0, null, null, null, workersPausedAt, null, null, false, null);
  }

  /** Whether nothing is claimed from it: it is paused by itself, or all workers are. */
  public boolean isPaused() {
    return pausedAt != null || workersPausedAt != null;
  }
}
