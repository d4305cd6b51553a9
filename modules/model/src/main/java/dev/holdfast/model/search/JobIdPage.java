package dev.holdfast.model.search;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one page of the jobs that match a filter.
 *
 * @param next where the next page begins; null when there is none
 */
public record JobIdPage(List<JobId> ids, @Nullable JobCursor next) {
  public JobIdPage {
    ids = List.copyOf(ids);
  }
}
