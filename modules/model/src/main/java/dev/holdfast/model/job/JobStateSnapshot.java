package dev.holdfast.model.job;

import org.jspecify.annotations.Nullable;

/** The state of a job, for an attempt that does not hold it. */
public record JobStateSnapshot(
    JobId job, String tenant, JobState state, int attempt, @Nullable String failureCode) {}
