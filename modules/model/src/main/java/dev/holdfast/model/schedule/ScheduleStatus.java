package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule and its state. Cron and zone are those of the row, which may not be valid for a
 * {@link Schedule}.
 *
 * @param payload null where it cannot be read
 * @param nextAt for a broken schedule, the time at which it could not be fired
 * @param broken why it cannot be fired; null while it can
 */
public record ScheduleStatus(
    String name,
    String cron,
    String zone,
    String kind,
    String queue,
    int priority,
    WhenMissed missed,
    boolean overlap,
    @Nullable Json payload,
    Instant nextAt,
    @Nullable Instant lastAt,
    @Nullable Instant pausedAt,
    @Nullable String broken) {}
