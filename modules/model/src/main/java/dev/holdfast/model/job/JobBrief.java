package dev.holdfast.model.job;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What of a job changes while one looks on: without what it was given and what it gave. */
public record JobBrief(
    JobId id,
    String kind,
    String queue,
    JobState state,
    int attempt,
    @Nullable Integer progress,
    @Nullable String progressMessage,
    @Nullable String workerId,
    Instant createdAt,
    Instant runAt,
    @Nullable Instant startedAt,
    @Nullable Instant finishedAt,
    @Nullable String failureCode) {}
