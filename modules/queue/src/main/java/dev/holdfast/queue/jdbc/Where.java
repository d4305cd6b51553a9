package dev.holdfast.queue.jdbc;

import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of a filter. Only what was given becomes part of the statement, so that the
 * planner sees which index it may use.
 */
public final class Where {
  public static final String NEWEST_FIRST = "ORDER BY created_at DESC, id DESC";

  private final List<String> conditions = new ArrayList<>();
  private final Map<String, Object> values = new LinkedHashMap<>();

  private Where() {}

  public static Where of(Connection connection, JobFilter filter) throws SQLException {
    Where where = range(filter);
    if (!filter.states().isEmpty()) {
      where.add(
          "state = ANY (:states::text[])",
          "states",
          Rows.array(connection, "text", List.copyOf(filter.states()), JobState::name));
    }
    where.add("queue = :queue", "queue", filter.queue());
    where.add("kind = :kind", "kind", filter.kind());
    where.add("tenant = :tenant", "tenant", filter.tenant());
    where.add("wait_sort = :waits", "waits", filter.waits() == null ? null : filter.waits().name());
    where.add("parent_id = :parent", "parent", filter.parent());
    // Jobs that are a run by themselves are not in the index of runs.
    where.add("run_id = :run AND (id = :run OR run_id <> id)", "run", filter.run());
    where.add(
        "attributes -> 'tags' @> :tag::jsonb",
        "tag",
        filter.tag() == null ? null : AttributesJson.withTag(filter.tag()));
    return where;
  }

  /** The order that the filter wants: {@code job_created} has both. */
  public static String order(JobFilter filter) {
    return filter.oldestFirst() ? "ORDER BY created_at, id" : NEWEST_FIRST;
  }

  /** Of a filter only the range of time. */
  public static Where range(JobFilter filter) {
    Where where = new Where();
    where.add(">=", "from", filter.from());
    where.add("<", "before", filter.before());
    return where;
  }

  private void add(String comparison, String name, @Nullable JobCursor cursor) {
    if (cursor != null) {
      conditions.add("(created_at, id) %1$s (:%2$sTime, :%2$sId)".formatted(comparison, name));
      values.put(name + "Time", cursor.createdAt());
      values.put(name + "Id", cursor.id());
    }
  }

  private void add(String condition, String name, @Nullable Object value) {
    if (value != null) {
      conditions.add(condition);
      values.put(name, value);
    }
  }

  /** A fragment that begins with WHERE, or nothing. */
  public String sql() {
    return conditions.isEmpty() ? "" : "WHERE " + String.join(" AND ", conditions);
  }

  /** The conditions alone, to be joined with others by AND. */
  public String conditions() {
    return conditions.isEmpty() ? "true" : String.join(" AND ", conditions);
  }

  public Sql.Call bind(Sql.Call call) {
    values.forEach(call::set);
    return call;
  }
}
