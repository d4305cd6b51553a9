package dev.holdfast.queue;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue that has settings or unfinished jobs.
 *
 * @param delayed pending jobs that are not due yet
 * @param oldest how long the first due job has been waiting
 */
public record QueueStatus(
    String name,
    long due,
    long delayed,
    long retrying,
    long waiting,
    long running,
    @Nullable Integer maxRunning,
    @Nullable Instant pausedAt,
    @Nullable Duration oldest) {}
