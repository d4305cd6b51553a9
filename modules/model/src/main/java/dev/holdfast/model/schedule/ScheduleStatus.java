package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.RefusedException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule and its state. Cron and zone are those of the row, which may not be valid for a
 * {@link Schedule}.
 *
 * @param payload null where it cannot be read
 * @param nextFireAt for a broken schedule, the time at which it could not be fired
 * @param maxAttempts of its jobs; null leaves it to the process that enqueues them
 * @param fireError why it cannot be fired; null while it can
 * @param lastRuns the jobs that it enqueued last and that still exist, the newest first
 */
public record ScheduleStatus(
    String name,
    String cron,
    String zone,
    String kind,
    String queue,
    int priority,
    @Nullable Integer maxAttempts,
    int maxCrashes,
    @Nullable Duration timeout,
    MissedFires missedFires,
    boolean allowOverlap,
    @Nullable Json payload,
    Instant nextFireAt,
    @Nullable Instant lastFiredAt,
    @Nullable Instant pausedAt,
    @Nullable String fireError,
    List<ScheduledRun> lastRuns) {
  private static final int UPCOMING = 5;

  public ScheduleStatus {
    lastRuns = List.copyOf(lastRuns);
  }

  /** The next times at which it fires; none while it is paused or broken. */
  public List<Instant> upcoming() {
    List<Instant> times = new ArrayList<>();
    if (pausedAt != null || fireError != null) {
      return times;
    }
    try {
      Cron parsed = Cron.parse(cron);
      ZoneId zoneId = ZoneId.of(zone);
      Optional<Instant> at = Optional.of(nextFireAt);
      while (at.isPresent() && times.size() < UPCOMING) {
        times.add(at.get());
        at = parsed.next(at.get(), zoneId);
      }
    } catch (RefusedException | DateTimeException ofAnotherVersion) {
      // Whoever fires it says what is wrong with it.
    }
    return times;
  }
}
