package dev.holdfast.workspace;

import dev.holdfast.model.job.JobId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How often in a row jobs have waited in this process because their workspaces could not be
 * prepared. The number of a job's attempts says nothing about it: many end for other reasons. One
 * that goes from worker to worker waits longer before it fails.
 */
final class PreparationWaits {
  private static final Duration FIRST = Duration.ofSeconds(5);
  private static final Duration LONGEST = Duration.ofMinutes(5);
  // About eight hours; then it is a failure of the job, which has few.
  private static final int MOST = 100;
  private static final int MOST_JOBS = 10_000;

  private final Map<JobId, Integer> waits =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<JobId, Integer> eldest) {
          return size() > MOST_JOBS;
        }
      };

  /** How long the job waits now; empty when it has waited often enough. */
  synchronized Optional<Duration> next(JobId job) {
    int wait = waits.merge(job, 1, Integer::sum);
    return wait > MOST
        ? Optional.empty()
        : Optional.of(
            Duration.ofSeconds(
                Math.min(LONGEST.toSeconds(), FIRST.toSeconds() << Math.min(wait - 1, 10))));
  }

  /** An attempt has gone beyond the preparation. */
  synchronized void end(JobId job) {
    waits.remove(job);
  }
}
