package dev.holdfast.contract.resource;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.schedule.MissedFires;
import dev.holdfast.model.schedule.ScheduleStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A schedule.
 *
 * @param fireError why it cannot be fired; null while it can
 * @param payload null where it cannot be read
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record ScheduleResource(
    String name,
    String cron,
    String zone,
    String kind,
    String queue,
    int priority,
    MissedFires missedFires,
    boolean allowOverlap,
    Instant nextFireAt,
    @Nullable Instant lastFiredAt,
    @Nullable Instant pausedAt,
    @Nullable String fireError,
    @Nullable JsonNode payload) {
  public ScheduleResource {
    Wire.present("name", name);
    Wire.present("cron", cron);
    Wire.present("zone", zone);
    Wire.present("kind", kind);
    Wire.present("queue", queue);
    Wire.present("missedFires", missedFires);
    Wire.present("nextFireAt", nextFireAt);
  }

  public static ScheduleResource of(ScheduleStatus status) {
    return new ScheduleResource(
        status.name(),
        status.cron(),
        status.zone(),
        status.kind(),
        status.queue(),
        status.priority(),
        status.missedFires(),
        status.allowOverlap(),
        status.nextFireAt(),
        status.lastFiredAt(),
        status.pausedAt(),
        status.fireError(),
        Wire.tree(status.payload()));
  }

  public ScheduleStatus status() {
    return new ScheduleStatus(
        name,
        cron,
        zone,
        kind,
        queue,
        priority,
        missedFires,
        allowOverlap,
        Wire.json(payload),
        nextFireAt,
        lastFiredAt,
        pausedAt,
        fireError);
  }

  /** All schedules. */
  public record Schedules(List<ScheduleResource> schedules) {
    public Schedules {
      schedules = List.copyOf(Wire.present("schedules", schedules));
    }
  }
}
