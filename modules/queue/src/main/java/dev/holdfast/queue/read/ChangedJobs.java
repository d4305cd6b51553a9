package dev.holdfast.queue.read;

import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/** The jobs that may have changed: those that run, are new, have just ended, or were asked for. */
public final class ChangedJobs {
  // Four ways to a row, each by an index and each bounded. Ids begin with the time they were made
  // at, so new jobs are those at the end of the primary key, as far as the clocks of clients agree;
  // a job they place elsewhere is seen when it runs.
  private static final String SQL =
      """
      SELECT id, kind, queue, state, attempt, progress, progress_message, worker_id, created_at,
             run_at, started_at, finished_at, failure->>'code' AS failure_code
        FROM holdfast.job
       WHERE id IN (
             (SELECT id FROM holdfast.job
               WHERE state = 'RUNNING' %1$s
               ORDER BY started_at DESC LIMIT ?)
             UNION
             (SELECT id FROM holdfast.job
               WHERE id >= ?::uuid %1$s
               ORDER BY id DESC LIMIT ?)
             UNION
             (SELECT id FROM holdfast.job
               WHERE finished_at >= ?::timestamptz %1$s
               ORDER BY finished_at DESC LIMIT ?)
             UNION
             SELECT unnest(?::uuid[])) %1$s
       ORDER BY id
      """;

  private static final String OF_ALL = SQL.formatted("");
  private static final String OF_ONE = SQL.formatted("AND tenant = ?");

  private ChangedJobs() {}

  public static List<JobBrief> of(Connection connection, ChangedJob glance) throws SQLException {
    Array known = Rows.array(connection, "uuid", glance.known(), id -> id);
    JobId first = JobId.firstOf(glance.since());
    Instant since = glance.since();
    int most = glance.most();
    String one = glance.tenant();
    return one == null
        ? Rows.listByKey(
            connection, ChangedJobs::brief, OF_ALL, most, first, most, since, most, known)
        : Rows.listByKey(
            connection,
            ChangedJobs::brief,
            OF_ONE,
            one,
            most,
            first,
            one,
            most,
            since,
            one,
            most,
            known,
            one);
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
