package dev.holdfast.queue.recover;

import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.lease.LeaseExpiry;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Counts the jobs that an operator should check, up to a limit. */
public final class CountWarnings {
  private static final Sql SQL =
      Sql.of(
          """
          SELECT failed.jobs AS failed, failed.toxic,
                 (SELECT count(*)
                    FROM (SELECT FROM holdfast.job j
                           WHERE j.state = 'RUNNING' AND ${overdue} AND ${tenant}
                           LIMIT 10000) AS overdue) AS overdue
            FROM (SELECT count(*) AS jobs,
                         count(*) FILTER (WHERE code = 'TOXIC_JOB') AS toxic
                    FROM (SELECT j.failure ->> 'code' AS code
                            FROM holdfast.job j
                           WHERE j.state = 'FAILED'
                             AND j.finished_at > statement_timestamp() - interval '1 hour'
                             AND ${tenant}
                           LIMIT 10000) AS one) AS failed
          """,
          "overdue",
          LeaseExpiry.OVERDUE,
          "tenant",
          TenantSql.isOf("j"));

  private CountWarnings() {}

  /**
   * @param unhandled kinds that no live worker handles
   */
  public static Warnings of(
      Connection connection, Tenant tenant, Duration reapGrace, List<UnhandledKind> unhandled)
      throws SQLException {
    return SQL.on(connection)
        .set("grace", reapGrace)
        .tenant(tenant)
        .only(
            row ->
                new Warnings(
                    row.getLong("failed"),
                    row.getLong("toxic"),
                    row.getLong("overdue"),
                    unhandled));
  }
}
