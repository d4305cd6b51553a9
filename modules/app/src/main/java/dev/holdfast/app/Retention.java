package dev.holdfast.app;

import dev.holdfast.Holdfast;
import dev.holdfast.model.JobState;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes jobs that ended long enough ago, a batch at a time. Any number of nodes may do it. */
final class Retention implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Retention.class);
  private static final int MOST_BATCHES = 1_000;

  private final Holdfast holdfast;
  private final Map<JobState, Duration> ages;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("holdfast-retention").factory());

  private Retention(Holdfast holdfast, Map<JobState, Duration> ages) {
    this.holdfast = holdfast;
    this.ages = ages;
  }

  static Retention of(Settings settings, Holdfast holdfast) {
    Map<JobState, Duration> ages = new EnumMap<>(JobState.class);
    ages.put(JobState.SUCCEEDED, settings.duration(Setting.RETAIN_SUCCEEDED));
    ages.put(JobState.CANCELLED, settings.duration(Setting.RETAIN_CANCELLED));
    ages.put(JobState.FAILED, settings.duration(Setting.RETAIN_FAILED));
    return new Retention(holdfast, ages);
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
              log.info("deleted {} jobs that were {} for {}", deleted, state, Durations.text(age));
            }
          } catch (RuntimeException trouble) {
            log.info("retention failed, trying again later: {}", trouble.getMessage());
          }
        });
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
