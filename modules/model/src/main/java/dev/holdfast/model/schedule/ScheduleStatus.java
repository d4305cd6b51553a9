package dev.holdfast.model.schedule;

import dev.holdfast.model.value.Json;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as it is kept, and where it stands. Cron and zone are what the row says, which may be
 * nothing that a {@link Schedule} can be made of.
 *
 * @param payload null where it cannot be read
 * @param nextAt of a broken one the time that it could not be fired for
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
