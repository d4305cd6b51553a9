package dev.holdfast.queue;

import dev.holdfast.model.WorkerStatus;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Who runs jobs just now. */
final class Workers {
  private static final String SQL =
      """
      SELECT worker_id, count(*) AS jobs, min(started_at) AS oldest_start,
             max(heartbeat_at) AS last_heartbeat,
             string_agg(DISTINCT queue, ',' ORDER BY queue) AS queues
        FROM holdfast.job
       WHERE state = 'RUNNING' AND (?::text IS NULL OR tenant = ?::text)
       GROUP BY worker_id
       ORDER BY worker_id
       LIMIT 1000
      """;

  private Workers() {}

  static List<WorkerStatus> list(Connection connection, @Nullable String tenant)
      throws SQLException {
    return Rows.list(
        connection,
        row ->
            new WorkerStatus(
                row.getString("worker_id"),
                row.getLong("jobs"),
                Rows.instant(row, "oldest_start"),
                Rows.instant(row, "last_heartbeat"),
                // No queue has a comma in its name.
                List.of(row.getString("queues").split(","))),
        SQL,
        tenant,
        tenant);
  }
}
