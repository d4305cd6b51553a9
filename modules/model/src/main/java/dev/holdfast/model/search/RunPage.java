package dev.holdfast.model.search;

import dev.holdfast.model.job.JobId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Runs, the newest first.
 *
 * @param next where the next page starts; null if there are no more
 */
public record RunPage(List<RunSummary> runs, @Nullable JobId next) {
  public RunPage {
    runs = List.copyOf(runs);
  }
}
