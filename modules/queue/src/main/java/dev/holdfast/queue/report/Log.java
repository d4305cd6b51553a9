package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
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
      WITH input AS (
        SELECT DISTINCT ON (id, attempt, piece) id, attempt, piece, text
          FROM unnest(:jobs::uuid[], :attempts::int4[], :pieces::int4[], :texts::text[])
                 AS t(id, attempt, piece, text)
         ORDER BY id, attempt, piece, char_length(text) DESC
      ), held AS MATERIALIZED (
        SELECT j.id, j.attempt
          FROM holdfast.job j
          JOIN (SELECT DISTINCT id, attempt FROM input) t ON t.id = j.id AND t.attempt = j.attempt
         WHERE ${may}
      ), ranked AS MATERIALIZED (
        SELECT id, attempt, piece, text,
               dense_rank() OVER (PARTITION BY id ORDER BY attempt DESC, piece DESC) AS age
          FROM (SELECT t.id, t.attempt, t.piece, t.text
                  FROM input t JOIN held h ON h.id = t.id AND h.attempt = t.attempt
                UNION ALL
                SELECT l.job_id, l.attempt, l.piece, NULL
                  FROM holdfast.log l JOIN held h ON h.id = l.job_id) AS every
      ), written AS (
        INSERT INTO holdfast.log AS l (job_id, attempt, piece, text)
        SELECT id, attempt, piece, text FROM ranked
         WHERE text IS NOT NULL AND age <= :kept
         ORDER BY id, attempt, piece
        ON CONFLICT (job_id, attempt, piece) DO UPDATE
           SET text = excluded.text
         WHERE char_length(excluded.text) > char_length(l.text)
      ), dropped AS (
        DELETE FROM holdfast.log l USING ranked r
         WHERE r.age > :kept AND r.text IS NULL
           AND l.job_id = r.id AND l.attempt = r.attempt AND l.piece = r.piece
      )
      SELECT id, attempt FROM held
      """;

  private static final Sql OF_RUNNING = Sql.of(WRITE, "may", FenceSql.isRunning("j"));
  private static final Sql FENCED = Sql.of(WRITE, "may", "true");

  private static final Sql READ =
      Sql.of(
          """
          SELECT attempt, piece, text FROM holdfast.log
           WHERE job_id = :job AND (attempt, piece) >= (:attempt, :piece)
           ORDER BY attempt, piece
          """);

  private static final Sql ENDS =
      Sql.of(
          """
      SELECT DISTINCT ON (job_id) job_id, attempt, piece, char_length(text) AS chars
        FROM holdfast.log
       WHERE job_id = ANY (:jobs::uuid[])
       ORDER BY job_id, attempt DESC, piece DESC
      """);

  private Log() {}

  /** The leases whose pieces were taken. */
  public static Set<Lease> all(Connection connection, List<Report.Log> pieces) throws SQLException {
    return write(OF_RUNNING, connection, pieces);
  }

  /** For a caller that has locked the jobs and knows that these attempts may write. */
  static Set<Lease> fenced(Connection connection, List<Report.Log> pieces) throws SQLException {
    return write(FENCED, connection, pieces);
  }

  private static Set<Lease> write(Sql sql, Connection connection, List<Report.Log> pieces)
      throws SQLException {
    List<Lease> leases = pieces.stream().map(Report.Log::lease).toList();
    return new HashSet<>(
        sql.on(connection)
            .leases(leases)
            .array("pieces", "int4", pieces, Report.Log::piece)
            .array("texts", "text", pieces, Report.Log::text)
            .set("kept", Limits.LOG_PIECES)
            .listByKey(Rows::lease));
  }

  public static List<LogPiece> read(Connection connection, JobId job, LogCursor from)
      throws SQLException {
    return READ.on(connection)
        .set("job", job)
        .set("attempt", from.attempt())
        .set("piece", from.piece())
        .list(
            row -> new LogPiece(row.getInt("attempt"), row.getInt("piece"), row.getString("text")));
  }

  /** Where the logs of these jobs end, of those that have one: moves whenever one of them grows. */
  public static Map<JobId, LogCursor> ends(Connection connection, List<JobId> jobs)
      throws SQLException {
    Map<JobId, LogCursor> ends = new HashMap<>();
    ENDS.on(connection)
        .array("jobs", "uuid", jobs, id -> id)
        .list(
            row ->
                Map.entry(
                    Rows.id(row, "job_id"),
                    new LogCursor(row.getInt("attempt"), row.getInt("piece"), row.getInt("chars"))))
        .forEach(end -> ends.put(end.getKey(), end.getValue()));
    return ends;
  }
}
