package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes what the programs of running attempts print, keeps the last of it, and reads it back. */
public final class Log {
  // The job's row is looked at and not locked: whatever holds it, a handler's own transaction
  // perhaps, is not waited for. An attempt that loses its lease at this very moment leaves a piece
  // under its own number, which is what it printed. A piece that comes late, after a newer form of
  // itself, is shorter and changes nothing.
  private static final String WRITE =
      """
      WITH told AS (
        SELECT DISTINCT ON (id, attempt, piece) id, attempt, piece, text
          FROM unnest(?::uuid[], ?::int4[], ?::int4[], ?::text[]) AS t(id, attempt, piece, text)
         ORDER BY id, attempt, piece, char_length(text) DESC
      ), held AS MATERIALIZED (
        SELECT j.id, j.attempt
          FROM holdfast.job j
          JOIN (SELECT DISTINCT id, attempt FROM told) t ON t.id = j.id AND t.attempt = j.attempt
         WHERE j.lease_expires_at IS NOT NULL
      ), ranked AS MATERIALIZED (
        SELECT id, attempt, piece, text,
               dense_rank() OVER (PARTITION BY id ORDER BY attempt DESC, piece DESC) AS age
          FROM (SELECT t.id, t.attempt, t.piece, t.text
                  FROM told t JOIN held h ON h.id = t.id AND h.attempt = t.attempt
                UNION ALL
                SELECT l.job_id, l.attempt, l.piece, NULL
                  FROM holdfast.log l JOIN held h ON h.id = l.job_id) AS every
      ), written AS (
        INSERT INTO holdfast.log AS l (job_id, attempt, piece, text)
        SELECT id, attempt, piece, text FROM ranked
         WHERE text IS NOT NULL AND age <= ?
         ORDER BY id, attempt, piece
        ON CONFLICT (job_id, attempt, piece) DO UPDATE
           SET text = excluded.text
         WHERE char_length(excluded.text) > char_length(l.text)
      ), dropped AS (
        DELETE FROM holdfast.log l USING ranked r
         WHERE r.age > ? AND r.text IS NULL
           AND l.job_id = r.id AND l.attempt = r.attempt AND l.piece = r.piece
      )
      SELECT id, attempt FROM held
      """;

  private static final String READ =
      """
      SELECT attempt, piece, text FROM holdfast.log
       WHERE job_id = ? AND (attempt, piece) >= (?, ?)
       ORDER BY attempt, piece
      """;

  private static final String ENDS =
      """
      SELECT DISTINCT ON (job_id) job_id, attempt, piece, char_length(text) AS chars
        FROM holdfast.log
       WHERE job_id = ANY (?::uuid[])
       ORDER BY job_id, attempt DESC, piece DESC
      """;

  private Log() {}

  /** The leases whose pieces were taken. */
  public static Set<Lease> all(Connection connection, List<Report.Log> pieces) throws SQLException {
    List<Lease> leases = pieces.stream().map(Report.Log::lease).toList();
    return new HashSet<>(
        Rows.listByKey(
            connection,
            Rows::lease,
            WRITE,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases),
            Rows.array(connection, "int4", pieces, Report.Log::piece),
            Rows.array(connection, "text", pieces, Report.Log::text),
            Limits.LOG_PIECES,
            Limits.LOG_PIECES));
  }

  public static List<LogPiece> read(Connection connection, JobId job, LogCursor from)
      throws SQLException {
    return Rows.list(
        connection,
        row -> new LogPiece(row.getInt("attempt"), row.getInt("piece"), row.getString("text")),
        READ,
        job,
        from.attempt(),
        from.piece());
  }

  /** Where the logs of these jobs end, of those that have one: moves whenever one of them grows. */
  public static Map<JobId, LogCursor> ends(Connection connection, List<JobId> jobs)
      throws SQLException {
    Map<JobId, LogCursor> ends = new HashMap<>();
    Rows.list(
            connection,
            row ->
                Map.entry(
                    Rows.id(row, "job_id"),
                    new LogCursor(row.getInt("attempt"), row.getInt("piece"), row.getInt("chars"))),
            ENDS,
            Rows.array(connection, "uuid", jobs, id -> id))
        .forEach(end -> ends.put(end.getKey(), end.getValue()));
    return ends;
  }
}
