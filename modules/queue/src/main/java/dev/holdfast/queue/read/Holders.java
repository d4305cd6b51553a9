package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

/** Which workers hold leases, and which. */
public final class Holders {
  private static final Sql SQL =
      Sql.of(
          """
      SELECT worker_id, count(*) AS held, max(heartbeat_at) AS heartbeat_at,
             max(lease_expires_at) AS lease_expires_at, min(started_at) AS oldest_start,
             string_agg(DISTINCT queue, ',' ORDER BY queue) AS queues,
             (array_agg(id ORDER BY started_at DESC, id))[1 : :jobs] AS jobs
        FROM holdfast.job j
       WHERE state = 'RUNNING' AND ${tenant}
       GROUP BY worker_id
       ORDER BY worker_id
       LIMIT :most
      """,
          "tenant",
          TenantSql.isOf("j"));

  private Holders() {}

  public static List<Holder> of(Connection connection, Tenant tenant, int jobs, int most)
      throws SQLException {
    return SQL.on(connection)
        .set("jobs", jobs)
        .set("most", most)
        .tenant(tenant)
        .listByKey(Holders::holder);
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
