package dev.holdfast.model.search;

import dev.holdfast.model.job.JobCursor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs, those first whose last job is the newest.
 *
 * @param next where the next page starts; null if there are no more
 */
public record RunPage(List<RunSummary> runs, @Nullable JobCursor next) {
  public RunPage {
    runs = List.copyOf(runs);
  }
}
