package dev.holdfast.model.job;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the jobs that a filter lets through.
 *
 * @param next where the next page begins; null when there is none
 * @param allSearched false when a search stopped at its bound, or passed by a payload that is too
 *     large to be read through
 */
public record JobPage(List<JobStatus> jobs, @Nullable JobId next, boolean allSearched) {}
