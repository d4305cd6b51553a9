package dev.holdfast.model.search;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of the jobs that match a filter.
 *
 * @param next where the next page begins; null when there is none
 * @param searchComplete false when a search stopped at its limit, or skipped a payload that is too
 *     large to be searched; null when there was nothing to search through
 */
public record JobPage(
    List<JobStatus> jobs, @Nullable JobCursor next, @Nullable Boolean searchComplete) {}
