package dev.holdfast.model.ops;

import dev.holdfast.model.job.JobState;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How many jobs there are, by state, kind and queue. */
public record Statistics(List<Row> rows) {
  /** One cell of the count. */
  public record Row(String queue, String kind, JobState state, long jobs) {}

  public Map<JobState, Long> byState() {
    Map<JobState, Long> counts = new EnumMap<>(JobState.class);
    for (JobState state : JobState.values()) {
      counts.put(state, 0L);
    }
    rows.forEach(row -> counts.merge(row.state(), row.jobs(), Long::sum));
    return counts;
  }
}
