package dev.holdfast.contract.resource;

import dev.holdfast.contract.json.Wire;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Statistics;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How many jobs there are, by state, and by queue, kind and state. */
public record StatisticsResource(@Nullable Map<JobState, Long> byState, List<Statistics.Row> rows) {
  public StatisticsResource {
    rows = List.copyOf(Wire.present("rows", rows));
  }

  public static StatisticsResource of(Statistics statistics) {
    return new StatisticsResource(statistics.byState(), statistics.rows());
  }

  public Statistics statistics() {
    return new Statistics(rows);
  }
}
