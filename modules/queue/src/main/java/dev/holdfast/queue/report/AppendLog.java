package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds lines to an attempt's log, for workers that send lines and count no pieces. Lines that were
 * taken before are passed over, where the worker says which they are.
 *
 * <p>A worker may send the last lines after it has reported the end, for as long as no other
 * attempt has begun: they change nothing but the log. An attempt that was taken from its worker
 * writes nothing, so that the worker learns of it.
 */
public final class AppendLog {
  private static final Sql HAS_REPORTED_ITS_END =
      Sql.of(
          """
          SELECT j.id FROM holdfast.job j
            JOIN holdfast.completion c ON c.job_id = j.id AND c.attempt = j.attempt
           WHERE j.id = :job AND j.attempt = :attempt
             FOR NO KEY UPDATE OF j
          """);

  private static final Sql LAST =
      Sql.of(
          """
          SELECT attempt, piece, text, coalesce(lines, 0) AS lines FROM holdfast.log
           WHERE job_id = :job AND attempt = :attempt
           ORDER BY piece DESC LIMIT 1
          """);

  private static final Sql COUNT =
      Sql.of(
          """
          UPDATE holdfast.log SET lines = :lines
           WHERE job_id = :job AND attempt = :attempt AND piece = :piece
          """);

  /** Where the log of an attempt ends. */
  private record End(LogPiece piece, long lines) {}

  private AppendLog() {}

  public static Ack write(Connection connection, LogLines reported) throws SQLException {
    Lease lease = reported.lease();
    // Locked, so that lines which are sent at the same moment are appended one after the other.
    if (!FenceSql.hold(connection, lease)
        && !HAS_REPORTED_ITS_END.on(connection).lease(lease).found()) {
      return Ack.LEASE_LOST;
    }
    @Nullable End end =
        LAST.on(connection)
            .lease(lease)
            .first(
                row ->
                    new End(
                        new LogPiece(
                            row.getInt("attempt"), row.getInt("piece"), row.getString("text")),
                        row.getLong("lines")))
            .orElse(null);
    long taken = end == null ? 0 : end.lines();
    List<String> fresh = reported.after(taken);
    List<Report.Log> pieces =
        fresh.isEmpty()
            ? List.of()
            : pieces(lease, end == null ? null : end.piece(), reported, fresh);
    if (!pieces.isEmpty()) {
      Set<Lease> unused =
          Log.fenced(
              connection,
              pieces.subList(Math.max(0, pieces.size() - Limits.LOG_PIECES), pieces.size()));
      COUNT
          .on(connection)
          .lease(lease)
          .set("piece", pieces.getLast().piece())
          .set("lines", reported.linesAfter(taken))
          .update();
    }
    return Ack.ACCEPTED;
  }

  private static List<Report.Log> pieces(
      Lease lease, @Nullable LogPiece last, LogLines reported, List<String> fresh) {
    LogPiece end = last == null ? new LogPiece(lease.attempt(), 1, "") : last;
    return end.append(reported.scrubbed(end.text(), fresh)).stream()
        .map(piece -> new Report.Log(lease, piece.piece(), piece.text()))
        .toList();
  }
}
