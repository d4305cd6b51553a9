package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A stored schedule and its state. Cron and zone are those of the row, which may not be valid for a
 * {@link Schedule}.
 *
 * @param payload null where it cannot be read
 * @param nextFireAt for a broken schedule, the time at which it could not be fired
 * @param fireError why it cannot be fired; null while it can
 */
public record ScheduleStatus(
    String name,
    String cron,
    String zone,
    String kind,
    String queue,
    int priority,
    MissedFires missedFires,
    boolean allowOverlap,
    @Nullable Json payload,
    Instant nextFireAt,
    @Nullable Instant lastFiredAt,
    @Nullable Instant pausedAt,
    @Nullable String fireError) {}
