package dev.holdfast.model.schedule;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A job that a schedule has enqueued, and what became of it. */
public record ScheduledRun(
    JobId id,
    JobState state,
    Instant createdAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt) {}
