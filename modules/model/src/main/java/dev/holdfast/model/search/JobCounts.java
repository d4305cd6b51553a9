package dev.holdfast.model.search;

import dev.holdfast.model.job.JobState;
import java.util.List;

/**
 * How many jobs there are in each state, queue and kind.
 *
 * @param searched among how many jobs, the newest; jobs of some states also beyond these
 * @param more whether there are older jobs that were not counted
 * @param partial the states whose jobs were not all counted
 */
public record JobCounts(List<Row> rows, long searched, boolean more, List<JobState> partial) {
  public JobCounts {
    rows = List.copyOf(rows);
    partial = List.copyOf(partial);
  }

  /** The jobs of one state, queue and kind. */
  public record Row(JobState state, String queue, String kind, long jobs) {}
}
