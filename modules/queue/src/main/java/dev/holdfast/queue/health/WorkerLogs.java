package dev.holdfast.queue.health;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogPiece;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.value.Limits;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the processes of workers printed last: pieces that are numbered from 1 on, over all
 * processes of a worker. Only its supervisor writes them, so they are not fenced.
 */
public final class WorkerLogs {
  // A piece that was written before is written again, longer.
  private static final Sql WRITE =
      Sql.of(
          """
          WITH dropped AS (
            DELETE FROM holdfast.worker_log
             WHERE supervisor = :supervisor AND component = :component AND piece <= :last - :kept
          )
          INSERT INTO holdfast.worker_log (supervisor, component, piece, at, text)
          SELECT :supervisor, :component, piece, clock_timestamp(), text
            FROM unnest(:pieces::int4[], :texts::text[]) AS t(piece, text)
          ON CONFLICT (supervisor, component, piece) DO UPDATE
             SET text = excluded.text, at = excluded.at
          """);

  private static final Sql READ =
      Sql.of(
          """
          SELECT piece, text FROM holdfast.worker_log
           WHERE supervisor = :supervisor AND component = :component AND piece >= :piece
           ORDER BY piece
          """);

  private static final Sql LAST =
      Sql.of(
          """
          SELECT component, max(piece) AS piece FROM holdfast.worker_log
           WHERE supervisor = :supervisor
           GROUP BY component
          """);

  // One look into the index for each worker that there is, however many pieces it has.
  private static final Sql ENDS =
      Sql.of(
          """
          SELECT h.supervisor, h.component, l.at
            FROM holdfast.health h
           CROSS JOIN LATERAL (
             SELECT at FROM holdfast.worker_log
              WHERE supervisor = h.supervisor AND component = h.component
              ORDER BY piece DESC LIMIT 1) l
           LIMIT 10000
          """);

  private final Database database;

  WorkerLogs(Database database) {
    this.database = database;
  }

  /** A worker, as its supervisor and its place there. */
  public record Name(String supervisor, String component) {}

  /** Writes pieces in their order, and keeps {@link Limits#LOG_PIECES} up to the last of them. */
  public void write(Name worker, List<LogPiece> pieces) {
    if (pieces.isEmpty()) {
      return;
    }
    var unused =
        database.run(
            "workerLog",
            connection ->
                on(worker, WRITE.on(connection))
                    .array("pieces", "int4", pieces, LogPiece::piece)
                    .array("texts", "text", pieces, LogPiece::text)
                    .set("last", pieces.getLast().piece())
                    .set("kept", Limits.LOG_PIECES)
                    .update());
  }

  /** The log from a cursor on; its attempt is always 0. */
  public LogTail read(Name worker, LogCursor cursor) {
    return LogTail.after(
        cursor,
        database.run(
            "workerLog",
            connection ->
                on(worker, READ.on(connection))
                    .set("piece", cursor.piece())
                    .list(row -> new LogPiece(0, row.getInt("piece"), row.getString("text")))));
  }

  /** The number of the last piece of each worker of a supervisor that has a log. */
  public Map<String, Integer> last(String supervisor) {
    Map<String, Integer> last = new HashMap<>();
    database
        .run(
            "workerLog",
            connection ->
                LAST.on(connection)
                    .set("supervisor", supervisor)
                    .list(row -> Map.entry(row.getString("component"), row.getInt("piece"))))
        .forEach(each -> last.put(each.getKey(), each.getValue()));
    return last;
  }

  /** When something was last added to the log of each worker that has one. */
  public Map<Name, Instant> ends() {
    Map<Name, Instant> ends = new HashMap<>();
    database
        .run(
            "workerLog",
            connection ->
                ENDS.on(connection)
                    .list(
                        row ->
                            Map.entry(
                                new Name(row.getString("supervisor"), row.getString("component")),
                                Rows.instant(row, "at"))))
        .forEach(each -> ends.put(each.getKey(), each.getValue()));
    return ends;
  }

  private static Sql.Call on(Name worker, Sql.Call call) {
    return call.set("supervisor", worker.supervisor()).set("component", worker.component());
  }
}
