package dev.holdfast.model.attempt;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Json;
import org.jspecify.annotations.Nullable;

/**
 * A job that another one has started, as its parent sees it.
 *
 * @param result of one that has succeeded, if it has any
 * @param failure of one that has failed
 */
public record ChildEnd(
    JobId job, JobState state, @Nullable Json result, @Nullable Failure failure) {}
