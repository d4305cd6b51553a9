package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which workers hold leases, and which. */
public final class Holders {
  private static final String SQL =
      """
      SELECT worker_id, count(*) AS held, max(heartbeat_at) AS heartbeat_at,
             max(lease_expires_at) AS lease_expires_at, min(started_at) AS oldest_start,
             string_agg(DISTINCT queue, ',' ORDER BY queue) AS queues,
             (array_agg(id ORDER BY started_at DESC, id))[1:?] AS jobs
        FROM holdfast.job
       WHERE state = 'RUNNING' %s
       GROUP BY worker_id
       ORDER BY worker_id
       LIMIT ?
      """;

  private static final String OF_ALL = SQL.formatted("");
  private static final String OF_ONE = SQL.formatted("AND tenant = ?");

  private Holders() {}

  public static List<Holder> of(Connection connection, @Nullable String tenant, int jobs, int most)
      throws SQLException {
    return tenant == null
        ? Rows.listByKey(connection, Holders::holder, OF_ALL, jobs, most)
        : Rows.listByKey(connection, Holders::holder, OF_ONE, jobs, tenant, most);
  }

  private static Holder holder(ResultSet row) throws SQLException {
    Array ids = row.getArray("jobs");
    List<JobId> jobs = Stream.of((UUID[]) ids.getArray()).map(JobId::new).toList();
    return new Holder(
        row.getString("worker_id"),
        row.getLong("held"),
        jobs,
        Rows.instant(row, "heartbeat_at"),
        Rows.instant(row, "lease_expires_at"),
        Rows.instant(row, "oldest_start"),
        // No queue has a comma in its name.
        List.of(row.getString("queues").split(",")));
  }
}
