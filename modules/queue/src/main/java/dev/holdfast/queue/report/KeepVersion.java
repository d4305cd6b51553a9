package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes with which version of its handler a job has begun, before anything else of it is written:
 * from then on claims give it to workers that have this version. One that has a version keeps it.
 */
final class KeepVersion {
  private static final Sql SQL =
      Sql.of(
          """
          WITH held AS MATERIALIZED (
            SELECT j.id, j.attempt, j.version, r.version AS next
              FROM unnest(:jobs::uuid[], :attempts::int4[], :versions::int2[])
                     AS r(id, attempt, version)
              JOIN holdfast.job j ON j.id = r.id AND j.attempt = r.attempt
             WHERE ${running}
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          ), kept AS (
            UPDATE holdfast.job j SET version = h.next
              FROM held h
             WHERE j.id = h.id AND h.version = 0
          )
          SELECT id, attempt FROM held
          """,
          "running",
          FenceSql.isRunning("j"));

  private KeepVersion() {}

  /** The leases that are held. */
  static Set<Lease> all(Connection connection, List<Report.Version> reports) throws SQLException {
    return new HashSet<>(
        SQL.on(connection)
            .leases(reports.stream().map(Report.Version::lease).toList())
            .array("versions", "int2", reports, Report.Version::version)
            .listByKey(Rows::lease));
  }
}
