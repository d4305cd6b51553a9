package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;

/** Counts jobs, all or those of one tenant, by state, kind and queue. */
public final class Count {
  private static final Sql SQL =
      Sql.of(
          """
      SELECT queue, kind, state, count(*) AS jobs
        FROM holdfast.job j
       WHERE ${tenant}
       GROUP BY queue, kind, state
       ORDER BY queue, kind, state
      """,
          "tenant",
          TenantSql.isOf("j"));

  private Count() {}

  public static Statistics all(Connection connection, Tenant tenant) throws SQLException {
    return new Statistics(
        SQL.on(connection)
            .tenant(tenant)
            .list(
                row ->
                    new Statistics.Row(
                        row.getString("queue"),
                        row.getString("kind"),
                        JobState.valueOf(row.getString("state")),
                        row.getLong("jobs"))));
  }
}
