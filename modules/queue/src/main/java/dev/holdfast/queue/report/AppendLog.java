package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds lines to an attempt's log, for workers that send lines and count no pieces. Lines that were
 * taken before are passed over, where the worker says which they are.
 */
public final class AppendLog {
  // Locked, so that lines which are sent at the same moment come one behind the other.
  private static final String HOLD =
      """
      SELECT id FROM holdfast.job
       WHERE id = ? AND attempt = ? AND lease_expires_at IS NOT NULL
         FOR NO KEY UPDATE
      """;

  private static final String LAST =
      """
      SELECT attempt, piece, text, coalesce(lines, 0) AS lines FROM holdfast.log
       WHERE job_id = ? AND attempt = ?
       ORDER BY piece DESC LIMIT 1
      """;

  private static final String COUNT =
      "UPDATE holdfast.log SET lines = ? WHERE job_id = ? AND attempt = ? AND piece = ?";

  /** Where the log of an attempt ends. */
  private record End(LogPiece piece, long lines) {}

  private AppendLog() {}

  public static Ack write(Connection connection, LogLines told) throws SQLException {
    Lease lease = told.lease();
    if (Rows.list(connection, row -> "", HOLD, lease.job(), lease.attempt()).isEmpty()) {
      return Ack.LEASE_LOST;
    }
    @Nullable End end =
        Rows.list(
                connection,
                row ->
                    new End(
                        new LogPiece(
                            row.getInt("attempt"), row.getInt("piece"), row.getString("text")),
                        row.getLong("lines")),
                LAST,
                lease.job(),
                lease.attempt())
            .stream()
            .findFirst()
            .orElse(null);
    long taken = end == null ? 0 : end.lines();
    List<String> fresh = told.after(taken);
    List<Report.Log> pieces =
        fresh.isEmpty() ? List.of() : pieces(lease, end == null ? null : end.piece(), told, fresh);
    if (!pieces.isEmpty()) {
      Set<Lease> unused =
          Log.all(
              connection,
              pieces.subList(Math.max(0, pieces.size() - Limits.LOG_PIECES), pieces.size()));
      Rows.update(
          connection,
          COUNT,
          told.linesAfter(taken),
          lease.job(),
          lease.attempt(),
          pieces.getLast().piece());
    }
    return Ack.ACCEPTED;
  }

  /** From the last one on, which may have room. */
  private static List<Report.Log> pieces(
      Lease lease, @Nullable LogPiece last, LogLines told, List<String> fresh) {
    String before = last == null ? "" : last.text();
    int number = last == null ? 1 : last.piece();
    StringBuilder text = new StringBuilder(before);
    List<Report.Log> pieces = new ArrayList<>();
    for (String line : told.scrubbed(before, fresh).lines().toList()) {
      String kept = Text.excerpt(line, Limits.LOG_LINE_CHARS) + "\n";
      if (text.length() + kept.length() > Limits.LOG_PIECE_CHARS) {
        pieces.add(new Report.Log(lease, number++, text.toString()));
        text.setLength(0);
      }
      text.append(kept);
    }
    if (!text.isEmpty()) {
      pieces.add(new Report.Log(lease, number, text.toString()));
    }
    return pieces;
  }
}
