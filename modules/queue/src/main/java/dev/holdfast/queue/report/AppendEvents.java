package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.job.EventType;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes reports of running attempts: progress and events, numbered without gaps. */
public final class AppendEvents {
  // The row lock makes the numbers an order: the transaction that holds it has the next ones.
  private static final Sql SQL =
      Sql.of(
          """
          WITH report AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :types::text[], :data::text[],
                                 :percents::int2[], :messages::text[])
              WITH ORDINALITY AS r(id, attempt, type, data, percent, message, n)
          ), held AS MATERIALIZED (
            SELECT j.id, j.attempt, j.event_count
              FROM holdfast.job j
              JOIN (SELECT DISTINCT id, attempt FROM report) r
                ON r.id = j.id AND r.attempt = j.attempt
             WHERE ${running}
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          ), event_inserted AS (
            ${event}
          )
          UPDATE holdfast.job j
             SET event_count = j.event_count + r.inserted,
                 progress = coalesce(r.percent, j.progress),
                 progress_message =
                   CASE WHEN r.progressed THEN r.message ELSE j.progress_message END
            FROM (SELECT h.id, count(*) AS inserted,
                         (array_agg(r.percent ORDER BY r.n DESC)
                            FILTER (WHERE r.percent IS NOT NULL))[1] AS percent,
                         -- An event has data, even if none is in them; progress has none.
                         bool_or(r.data IS NULL) AS progressed,
                         (array_agg(r.message ORDER BY r.n DESC)
                            FILTER (WHERE r.data IS NULL))[1] AS message
                    FROM report r JOIN held h ON h.id = r.id AND h.attempt = r.attempt
                   GROUP BY h.id) AS r
           WHERE j.id = r.id AND ${running}
          RETURNING j.id, j.attempt
          """,
          "running",
          FenceSql.isRunning("j"),
          "event",
          EventSql.append(
              "j.event_count + row_number() OVER (PARTITION BY j.id ORDER BY r.n)",
              "r.type",
              """
              CASE WHEN r.data IS NOT NULL THEN r.data::jsonb
                   ELSE jsonb_strip_nulls(jsonb_build_object(
                          'percent', r.percent, 'message', r.message)) END
              """,
              "report r JOIN held j ON j.id = r.id AND j.attempt = r.attempt"));

  private AppendEvents() {}

  /** The leases whose reports were written. */
  public static Set<Lease> all(Connection connection, List<Report> reports) throws SQLException {
    List<Lease> leases = reports.stream().map(Report::lease).toList();
    return new HashSet<>(
        SQL.on(connection)
            .leases(leases)
            .array("types", "text", reports, AppendEvents::type)
            .array("data", "text", reports, r -> r instanceof Report.Event e ? e.data() : null)
            .array(
                "percents",
                "int2",
                reports,
                r -> r instanceof Report.Progress p ? p.percent() : null)
            .array(
                "messages",
                "text",
                reports,
                r -> r instanceof Report.Progress p ? p.message() : null)
            .listByKey(Rows::lease));
  }

  private static String type(Report report) {
    return switch (report) {
      case Report.Progress progress -> EventType.PROGRESS;
      case Report.Event event -> event.type();
      case Report.Step step -> throw new IllegalArgumentException(step + " is written by Steps");
      case Report.Log log -> throw new IllegalArgumentException(log + " is written by Log");
      case Report.Version version ->
          throw new IllegalArgumentException(version + " is written by KeepVersion");
    };
  }
}
