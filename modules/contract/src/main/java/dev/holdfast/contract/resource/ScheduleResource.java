package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.contract.operate.ScheduleOperator;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
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
    QueueResource.@Nullable Paused pause,
    @Nullable String fireError,
    @Nullable JsonNode payload,
    List<Run> lastRuns) {
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
        QueueResource.Paused.of(view.pause()),
        status.fireError(),
        Wire.tree(status.payload()),
        status.lastRuns().stream().map(Run::of).toList());
  }

  public ScheduleOperator.View view() {
    return new ScheduleOperator.View(status(), pause == null ? null : pause.pause());
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
        lastRuns.stream().map(Run::run).toList());
  }

  /** A job that it enqueued. */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record Run(
      JobId id,
      JobState state,
      Instant createdAt,
      @Nullable Instant startedAt,
      @Nullable Instant finishedAt) {
    public Run {
      Wire.present("id", id);
      Wire.present("state", state);
      Wire.present("createdAt", createdAt);
    }

    static Run of(ScheduledRun run) {
      return new Run(run.id(), run.state(), run.createdAt(), run.startedAt(), run.finishedAt());
    }

    ScheduledRun run() {
      return new ScheduledRun(id, state, createdAt, startedAt, finishedAt);
    }
  }

  /** All schedules. */
  public record Schedules(List<ScheduleResource> schedules) {
    public Schedules {
      schedules = List.copyOf(Wire.present("schedules", schedules));
    }
  }
}
