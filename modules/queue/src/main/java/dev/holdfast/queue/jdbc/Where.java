package dev.holdfast.queue.jdbc;

import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of a filter. Only what was given becomes part of the statement, so that the
 * planner sees which index it may go by.
 */
public record Where(String sql, List<Object> given) {
  public static Where of(Connection connection, JobFilter filter) throws SQLException {
    List<String> conditions = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    if (!filter.states().isEmpty()) {
      conditions.add("state = ANY (?::text[])");
      values.add(Rows.array(connection, "text", List.copyOf(filter.states()), JobState::name));
    }
    equal("queue = ?", filter.queue(), conditions, values);
    equal("kind = ?", filter.kind(), conditions, values);
    equal("tenant = ?", filter.tenant(), conditions, values);
    equal("parent_id = ?", filter.parent(), conditions, values);
    equal("id >= ?", filter.from(), conditions, values);
    equal("id < ?", filter.before(), conditions, values);
    JobId run = filter.run();
    if (run != null) {
      // Jobs that are a run by themselves do not lie in the index of runs.
      conditions.add("run_id = ? AND (id = ? OR run_id <> id)");
      values.add(run);
      values.add(run);
    }
    return new Where(
        conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions), values);
  }

  /** Of a filter no more than from where to where it goes. */
  public static Where range(Connection connection, JobFilter filter) throws SQLException {
    return of(connection, JobFilter.ALL.from(filter.from()).before(filter.before()));
  }

  private static void equal(
      String condition, @Nullable Object value, List<String> conditions, List<Object> values) {
    if (value != null) {
      conditions.add(condition);
      values.add(value);
    }
  }

  /** For the statement, with those that follow. */
  public Object[] values(Object... others) {
    List<Object> all = new ArrayList<>(given);
    all.addAll(List.of(others));
    return all.toArray();
  }

  /** For a statement that has others before. */
  public Object[] valuesAfter(Object... others) {
    List<Object> all = new ArrayList<>(List.of(others));
    all.addAll(given);
    return all.toArray();
  }
}
