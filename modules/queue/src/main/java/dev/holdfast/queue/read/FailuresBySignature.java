package dev.holdfast.queue.read;

import dev.holdfast.model.search.FailureGroups;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FailureSql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** Groups the newest FAILED jobs by what they failed of. */
public final class FailuresBySignature {
  private static final int MOST_READ = 10_000;

  // By the index of failed jobs. Times are those of the failures; the order is that of the
  // creation, so that only so many are read.
  private static final Sql SQL =
      Sql.of(
          """
      WITH newest AS MATERIALIZED (
        SELECT j.id, j.kind, j.queue, j.finished_at, j.failure,
               (SELECT ${worker} FROM holdfast.attempt a
                 WHERE a.job_id = j.id AND a.attempt = j.attempt) AS worker
          FROM holdfast.job j
         WHERE j.state = 'FAILED' AND ${tenant}
         ORDER BY j.created_at DESC, j.id DESC
         LIMIT :read
      ), read AS MATERIALIZED (
        SELECT id, kind, queue, finished_at, worker,
               ${code} AS code, ${message} AS message, ${pattern} AS pattern,
               :points - 1 - floor(extract(epoch FROM statement_timestamp() - finished_at)
                                   / 3600)::int AS hour
          FROM newest
      ), named AS MATERIALIZED (
        SELECT *, ${signature} AS signature FROM read
      ), plotted AS (
        SELECT signature, array_agg(jobs ORDER BY hour) AS hours
          FROM (SELECT s.signature, h.hour, count(n.id)::int AS jobs
                  FROM (SELECT DISTINCT signature FROM named) s
                 CROSS JOIN generate_series(0, :points - 1) AS h(hour)
                  LEFT JOIN named n ON n.signature = s.signature AND n.hour = h.hour
                 GROUP BY s.signature, h.hour) AS counted
         GROUP BY signature
      )
      SELECT n.signature, n.kind, n.code, n.pattern,
             (array_agg(n.message ORDER BY n.finished_at DESC))[1] AS message,
             (array_agg(n.id ORDER BY n.finished_at DESC))[1] AS latest,
             count(*) AS jobs, min(n.finished_at) AS first_seen, max(n.finished_at) AS last_seen,
             (array_agg(DISTINCT n.queue))[1:10] AS queues,
             (array_remove(array_agg(DISTINCT n.worker), NULL))[1:10] AS workers,
             p.hours, (SELECT count(*) FROM newest) AS searched
        FROM named n JOIN plotted p USING (signature)
       GROUP BY n.signature, n.kind, n.code, n.pattern, p.hours
       ORDER BY last_seen DESC
       LIMIT :most
      """,
          "tenant",
          TenantSql.isOf("j"),
          "worker",
          WorkerSql.ofAttempt("a"),
          "code",
          FailureSql.CODE,
          "message",
          FailureSql.MESSAGE,
          "pattern",
          FailureSql.PATTERN,
          "signature",
          FailureSql.signature("code", "pattern"));

  private record Read(FailureGroups.Group group, long searched) {}

  private FailuresBySignature() {}

  /**
   * @param most how many groups
   */
  public static FailureGroups of(Connection connection, Tenant tenant, int most)
      throws SQLException {
    List<Read> read =
        SQL.on(connection)
            .tenant(tenant)
            .set("read", MOST_READ)
            .set("points", FailureGroups.POINTS)
            .set("most", most)
            .list(FailuresBySignature::read);
    long searched = read.isEmpty() ? 0 : read.getFirst().searched();
    return new FailureGroups(
        read.stream().map(Read::group).toList(),
        searched,
        searched == MOST_READ || read.size() == most);
  }

  private static Read read(ResultSet row) throws SQLException {
    return new Read(
        new FailureGroups.Group(
            row.getString("signature"),
            row.getString("kind"),
            row.getString("code"),
            row.getString("pattern"),
            row.getString("message"),
            row.getLong("jobs"),
            Rows.instant(row, "first_seen"),
            Rows.instant(row, "last_seen"),
            List.of((String[]) array(row, "queues")),
            List.of((String[]) array(row, "workers")),
            List.of((Integer[]) array(row, "hours")),
            Rows.id(row, "latest")),
        row.getLong("searched"));
  }

  private static Object array(ResultSet row, String column) throws SQLException {
    Array array = row.getArray(column);
    return array.getArray();
  }
}
