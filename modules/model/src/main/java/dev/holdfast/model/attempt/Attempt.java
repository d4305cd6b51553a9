package dev.holdfast.model.attempt;

import dev.holdfast.model.job.Failure;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One execution of a job under one lease. */
public record Attempt(
    int number,
    AttemptOutcome outcome,
    String worker,
    Instant startedAt,
    @Nullable Instant endedAt,
    @Nullable Failure failure) {}
