package dev.holdfast.app.run;

import dev.holdfast.Holdfast;
import dev.holdfast.app.config.Settings;
import dev.holdfast.app.setting.Durations;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.artifact.ArtifactStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes jobs that ended long enough ago, in batches, and then their artifacts in the store of
 * this machine. Any number of processes may do so at once.
 */
final class RetentionTask implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RetentionTask.class);
  private static final int MOST_BATCHES = 1_000;

  private final Holdfast holdfast;
  private final Map<JobState, Duration> ages;
  private final ArtifactStore artifacts;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-retention").factory());

  private RetentionTask(Holdfast holdfast, Map<JobState, Duration> ages, ArtifactStore artifacts) {
    this.holdfast = holdfast;
    this.ages = ages;
    this.artifacts = artifacts;
  }

  static RetentionTask of(Settings settings, Holdfast holdfast) {
    return new RetentionTask(holdfast, settings.retention().ages(), settings.storage().artifacts());
  }

  void start() {
    var unused = timer.scheduleWithFixedDelay(this::runOnce, 1, 10, TimeUnit.MINUTES);
  }

  void runOnce() {
    ages.forEach(
        (state, age) -> {
          try {
            int deleted = 0;
            int batch;
            int batches = 0;
            do {
              batch = holdfast.queue().retain(state, age);
              deleted += batch;
            } while (batch > 0 && ++batches < MOST_BATCHES);
            if (deleted > 0) {
              log.info(
                  "deleted {}, {} for {}", Plural.of(deleted, "job"), state, Durations.text(age));
            }
          } catch (RuntimeException trouble) {
            log.info("retention failed, trying again later: {}", trouble.getMessage());
          }
        });
    deleteArtifacts();
  }

  /** Deletes only artifacts of jobs that the database records as deleted. */
  private void deleteArtifacts() {
    try {
      String store = artifacts.id();
      List<JobId> orphaned = holdfast.queue().orphaned(store);
      for (int batch = 0; !orphaned.isEmpty() && batch < MOST_BATCHES; batch++) {
        for (JobId job : orphaned) {
          artifacts.delete(job);
        }
        holdfast.queue().forget(store, orphaned);
        orphaned = holdfast.queue().orphaned(store);
      }
    } catch (IOException | RuntimeException trouble) {
      log.info("artifacts could not be deleted, trying again later: {}", trouble.toString());
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
