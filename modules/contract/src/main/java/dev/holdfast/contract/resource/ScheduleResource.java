package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.schedule.ScheduledRun;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A schedule.
 *
 * @param maxAttempts null leaves it to the server
 * @param upcoming the next times, none while it is paused or cannot be fired
 * @param fireError why it cannot be fired; null while it can
 * @param payload null where it cannot be read
 * @param lastRuns the jobs that it enqueued last, the newest first
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record ScheduleResource(
    String name,
    String cron,
    String zone,
    String kind,
    String queue,
    int priority,
    @Nullable Integer maxAttempts,
    int maxCrashes,
    @Nullable Long timeoutMs,
    MissedFires missedFires,
    boolean allowOverlap,
    Instant nextFireAt,
    List<Instant> upcoming,
    @Nullable Instant lastFiredAt,
    @Nullable Instant pausedAt,
    @Nullable Pause pause,
    @Nullable String fireError,
    @Nullable JsonNode payload,
    List<ScheduledRun> lastRuns) {
  private static final int UPCOMING = 5;

  public ScheduleResource {
    Wire.present("name", name);
    Wire.present("cron", cron);
    Wire.present("zone", zone);
    Wire.present("kind", kind);
    Wire.present("queue", queue);
    Wire.present("missedFires", missedFires);
    Wire.present("nextFireAt", nextFireAt);
    upcoming = upcoming == null ? List.of() : List.copyOf(upcoming);
    lastRuns = lastRuns == null ? List.of() : List.copyOf(lastRuns);
  }

  public static ScheduleResource of(ScheduleOperator.View view) {
    ScheduleStatus status = view.status();
    return new ScheduleResource(
        status.name(),
        status.cron(),
        status.zone(),
        status.kind(),
        status.queue(),
        status.priority(),
        status.maxAttempts(),
        status.maxCrashes(),
        status.timeout() == null ? null : Long.valueOf(status.timeout().toMillis()),
        status.missedFires(),
        status.allowOverlap(),
        status.nextFireAt(),
        status.upcoming(UPCOMING),
        status.lastFiredAt(),
        status.pausedAt(),
        view.pause(),
        status.fireError(),
        Wire.tree(status.payload()),
        status.lastRuns());
  }

  public ScheduleOperator.View view() {
    return new ScheduleOperator.View(status(), pause);
  }

  private ScheduleStatus status() {
    return new ScheduleStatus(
        name,
        cron,
        zone,
        kind,
        queue,
        priority,
        maxAttempts,
        maxCrashes,
        timeoutMs == null ? null : Duration.ofMillis(timeoutMs),
        missedFires,
        allowOverlap,
        Wire.json(payload),
        nextFireAt,
        lastFiredAt,
        pausedAt,
        fireError,
        lastRuns);
  }
}
