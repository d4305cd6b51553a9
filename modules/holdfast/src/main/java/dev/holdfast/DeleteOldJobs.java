package dev.holdfast;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Plural;
import dev.holdfast.queue.Maintenance;
import dev.holdfast.worker.artifact.ArtifactStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes jobs that ended long enough ago, and then their artifacts. A round takes about a second
 * at most, so that it does not delay reaping for longer; the next one continues. Any number of
 * nodes may do it at the same time.
 */
final class DeleteOldJobs {
  private static final Logger log = LoggerFactory.getLogger(DeleteOldJobs.class);

  static final Duration FIRST = Duration.ofMinutes(1);
  static final Duration INTERVAL = Duration.ofMinutes(10);
  private static final Duration ROUND = Duration.ofSeconds(1);

  private final Maintenance maintenance;
  private final JobRetention policy;
  private final ArtifactStore artifacts;
  private final LongSupplier nanos;
  private final ReentrantLock running = new ReentrantLock();
  private long dueAt;

  /**
   * @param first how long after the start it runs for the first time
   */
  DeleteOldJobs(
      Maintenance maintenance,
      JobRetention policy,
      ArtifactStore artifacts,
      Duration first,
      LongSupplier nanos) {
    this.maintenance = maintenance;
    this.policy = policy;
    this.artifacts = artifacts;
    this.nanos = nanos;
    this.dueAt = nanos.getAsLong() + first.toNanos();
  }

  /** Runs for a round if it is time to; the answer is how long until there is more to do. */
  Duration runIfDue() {
    // Several workers of one process share this object, and one of them is enough.
    if (!running.tryLock()) {
      return ROUND;
    }
    try {
      long now = nanos.getAsLong();
      if (now - dueAt >= 0 && !round(now + ROUND.toNanos())) {
        dueAt = nanos.getAsLong() + INTERVAL.toNanos();
      }
      return Duration.ofNanos(Math.max(0, dueAt - now));
    } finally {
      running.unlock();
    }
  }

  /** True when the time was up before everything was deleted. */
  private boolean round(long until) {
    boolean more = false;
    for (Map.Entry<JobState, Duration> kept : policy.ages().entrySet()) {
      more |= deleteJobs(kept.getKey(), kept.getValue(), until);
    }
    return deleteArtifacts(until) || more;
  }

  private boolean deleteJobs(JobState state, Duration age, long until) {
    int deleted = 0;
    try {
      int batch;
      do {
        batch = maintenance.retain(state, age);
        deleted += batch;
      } while (batch > 0 && nanos.getAsLong() - until < 0);
      return batch > 0;
    } catch (RuntimeException e) {
      log.info("retention failed, trying again later: {}", e.getMessage());
      return false;
    } finally {
      if (deleted > 0) {
        log.info("deleted {} that ended long ago in {}", Plural.of(deleted, "job"), state);
      }
    }
  }

  /** Only of jobs that the database says were deleted: other files in the store are left alone. */
  private boolean deleteArtifacts(long until) {
    try {
      String store = artifacts.id();
      List<JobId> orphaned = maintenance.orphaned(store);
      while (!orphaned.isEmpty()) {
        List<JobId> deleted = new ArrayList<>();
        for (JobId job : orphaned) {
          artifacts.delete(job);
          deleted.add(job);
          if (nanos.getAsLong() - until >= 0) {
            break;
          }
        }
        maintenance.forget(store, deleted);
        if (nanos.getAsLong() - until >= 0) {
          return true;
        }
        orphaned = maintenance.orphaned(store);
      }
    } catch (IOException | RuntimeException e) {
      log.info("artifacts could not be deleted, trying again later: {}", e.toString());
    }
    return false;
  }
}
