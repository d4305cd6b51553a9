package dev.holdfast.queue.recover;

import dev.holdfast.model.ops.UnhandledKind;
import dev.holdfast.model.ops.UnservedVersion;
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
                           LIMIT 10000) AS overdue) AS overdue,
                 (SELECT count(*)
                    FROM (SELECT (j.wait ->> 'since')::timestamptz AS since
                            FROM holdfast.job j
                           WHERE j.wait_sort = 'APPROVAL' AND ${tenant}
                           ORDER BY j.created_at, j.id
                           LIMIT 10000) AS asked
                   WHERE since < statement_timestamp()
                                - :answeredWithin * interval '1 millisecond') AS unanswered
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
   * @param unserved versions that no live worker has
   */
  public static Warnings of(
      Connection connection,
      Tenant tenant,
      Duration reapGrace,
      List<UnhandledKind> unhandled,
      List<UnservedVersion> unserved)
      throws SQLException {
    return SQL.on(connection)
        .set("grace", reapGrace)
        .set("answeredWithin", Warnings.ANSWERED_WITHIN)
        .tenant(tenant)
        .only(
            row ->
                new Warnings(
                    row.getLong("failed"),
                    row.getLong("toxic"),
                    row.getLong("overdue"),
                    row.getLong("unanswered"),
                    unhandled,
                    unserved));
  }
}
