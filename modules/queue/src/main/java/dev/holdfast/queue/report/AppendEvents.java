package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.EventType;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes what running attempts tell: progress and events, numbered without gaps. */
public final class AppendEvents {
  // The row lock is what makes the numbers an order: whoever holds it has the next ones. Running is
  // said in words that no index could be chosen by, as in Succeed.
  private static final String SQL =
      """
      WITH report AS (
        SELECT * FROM unnest(?::uuid[], ?::int4[], ?::text[], ?::text[], ?::int2[], ?::text[])
          WITH ORDINALITY AS r(id, attempt, type, data, percent, message, n)
      ), held AS MATERIALIZED (
        SELECT j.id, j.attempt, j.events
          FROM holdfast.job j
          JOIN (SELECT DISTINCT id, attempt FROM report) r ON r.id = j.id AND r.attempt = j.attempt
         WHERE j.lease_expires_at IS NOT NULL
         ORDER BY j.id
           FOR NO KEY UPDATE OF j
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT h.id, h.events + row_number() OVER (PARTITION BY h.id ORDER BY r.n), r.type,
               h.attempt, clock_timestamp(),
               CASE WHEN r.data IS NOT NULL THEN r.data::jsonb
                    ELSE jsonb_strip_nulls(jsonb_build_object(
                           'percent', r.percent, 'message', r.message)) END
          FROM report r JOIN held h ON h.id = r.id AND h.attempt = r.attempt
      )
      UPDATE holdfast.job j
         SET events = j.events + r.told,
             progress = coalesce(r.percent, j.progress),
             progress_message = CASE WHEN r.progressed THEN r.message ELSE j.progress_message END
        FROM (SELECT h.id, count(*) AS told,
                     (array_agg(r.percent ORDER BY r.n DESC) FILTER (WHERE r.percent IS NOT NULL))[1]
                       AS percent,
                     -- An event has data, even if none is in them; progress has none.
                     bool_or(r.data IS NULL) AS progressed,
                     (array_agg(r.message ORDER BY r.n DESC) FILTER (WHERE r.data IS NULL))[1]
                       AS message
                FROM report r JOIN held h ON h.id = r.id AND h.attempt = r.attempt
               GROUP BY h.id) AS r
       WHERE j.id = r.id AND j.lease_expires_at IS NOT NULL
      RETURNING j.id, j.attempt
      """;

  private AppendEvents() {}

  /** The leases whose reports were written. */
  public static Set<Lease> all(Connection connection, List<Report> reports) throws SQLException {
    List<Lease> leases = reports.stream().map(Report::lease).toList();
    return new HashSet<>(
        Rows.listByKey(
            connection,
            Rows::lease,
            SQL,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases),
            Rows.array(connection, "text", reports, AppendEvents::type),
            Rows.array(
                connection, "text", reports, r -> r instanceof Report.Event e ? e.data() : null),
            Rows.array(
                connection,
                "int2",
                reports,
                r -> r instanceof Report.Progress p ? p.percent() : null),
            Rows.array(
                connection,
                "text",
                reports,
                r -> r instanceof Report.Progress p ? p.message() : null)));
  }

  private static String type(Report report) {
    return switch (report) {
      case Report.Progress progress -> EventType.PROGRESS;
      case Report.Event event -> event.type();
      case Report.Step step -> throw new IllegalArgumentException(step + " is written by Steps");
      case Report.Log log -> throw new IllegalArgumentException(log + " is written by Log");
    };
  }
}
