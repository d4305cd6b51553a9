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
 * @param push null if its tasks are not pushed to a worker; used by rules, not shown
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
    @Nullable Push push) {
  /**
   * That tasks are pushed.
   *
   * @param error why they cannot be
   */
  public record Push(@Nullable DispatchError error) {}

  /** One that has neither. */
  public static QueueStatus empty(String name, @Nullable Instant workersPausedAt) {
    return new QueueStatus(
        name, 0, 0, 0, 0, 0, null, null, null, workersPausedAt, null, null, null);
  }

  /** Whether nothing is claimed from it: it is paused by itself, or all workers are. */
  public boolean isPaused() {
    return pausedAt != null || workersPausedAt != null;
  }
}
