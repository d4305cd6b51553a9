package dev.holdfast.queue.read;

import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** The jobs that may have changed: those that run, are new, have just ended, or were asked for. */
public final class ChangedJobs {
  // Four ways to a row, each by an index and each bounded. A job is new by the time of its
  // enqueue; one whose transaction stayed open for longer is seen when it runs.
  private static final Sql SQL =
      Sql.of(
          """
      SELECT id, kind, queue, state, attempt, progress, progress_message, ${worker} AS worker_id, created_at,
             run_at, started_at, finished_at, failure->>'code' AS failure_code
        FROM holdfast.job j
       WHERE id IN (
             (SELECT id FROM holdfast.job j
               WHERE state = 'RUNNING' AND ${tenant}
               ORDER BY started_at DESC LIMIT :most)
             UNION
             (SELECT id FROM holdfast.job j
               WHERE created_at >= :since::timestamptz AND ${tenant}
               ORDER BY created_at DESC, id DESC LIMIT :most)
             UNION
             (SELECT id FROM holdfast.job j
               WHERE finished_at >= :since::timestamptz AND ${tenant}
               ORDER BY finished_at DESC LIMIT :most)
             UNION
             SELECT unnest(:known::uuid[])) AND ${tenant}
       ORDER BY created_at, id
      """,
          "worker",
          WorkerSql.ofJob("j"),
          "tenant",
          TenantSql.isOf("j"));

  private ChangedJobs() {}

  public static List<JobBrief> of(Connection connection, ChangedJob glance) throws SQLException {
    return SQL.on(connection)
        .set("since", glance.since())
        .set("most", glance.most())
        .array("known", "uuid", glance.known(), id -> id)
        .tenant(glance.tenant())
        .listByKey(ChangedJobs::brief);
  }

  private static JobBrief brief(ResultSet row) throws SQLException {
    return new JobBrief(
        Rows.id(row, "id"),
        row.getString("kind"),
        row.getString("queue"),
        JobState.valueOf(row.getString("state")),
        row.getInt("attempt"),
        Rows.intOrNull(row, "progress"),
        row.getString("progress_message"),
        row.getString("worker_id"),
        Rows.instant(row, "created_at"),
        Rows.instant(row, "run_at"),
        Rows.instantOrNull(row, "started_at"),
        Rows.instantOrNull(row, "finished_at"),
        row.getString("failure_code"));
  }
}
