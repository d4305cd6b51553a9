package dev.holdfast.queue;

import dev.holdfast.model.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How many jobs there are, by state, kind and queue. */
public record Statistics(List<Row> rows) {
  private static final String SQL =
      """
      SELECT queue, kind, state, count(*) AS jobs
        FROM holdfast.job
       GROUP BY queue, kind, state
       ORDER BY queue, kind, state
      """;

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

  static Statistics of(Connection connection) throws SQLException {
    return new Statistics(
        Rows.list(
            connection,
            row ->
                new Row(
                    row.getString("queue"),
                    row.getString("kind"),
                    JobState.valueOf(row.getString("state")),
                    row.getLong("jobs")),
            SQL));
  }
}
