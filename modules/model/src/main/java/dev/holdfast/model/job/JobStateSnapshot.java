package dev.holdfast.model.job;

import org.jspecify.annotations.Nullable;

/** Where a job stands, for an attempt that was told it does not hold it. */
public record JobStateSnapshot(
    JobId job, String tenant, JobState state, int attempt, @Nullable String failureCode) {}
