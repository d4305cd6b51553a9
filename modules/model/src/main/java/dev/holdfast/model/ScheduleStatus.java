package dev.holdfast.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A schedule and where it stands. */
public record ScheduleStatus(
    Schedule schedule, Instant nextAt, @Nullable Instant lastAt, @Nullable Instant pausedAt) {}
