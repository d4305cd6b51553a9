package dev.holdfast.queue.history;

import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sums up the jobs of whole minutes, each once. Any number of processes may run it: the row of the
 * cursor is locked by one of them, and moves on in the transaction that writes the sums.
 *
 * <p>A minute is summed up when nothing of it can still be committed. A transaction has an id
 * before it writes a row, so a run marks its own id and the time; once all transactions before the
 * mark have ended, all that has an earlier time than the mark is visible. Nobody has to be asked
 * about transactions, which would need rights that an application may not have.
 */
public final class SumUpHistory {
  /** A statement takes its time at most so long before it gets a transaction id. */
  private static final Duration SLACK = Duration.ofSeconds(30);

  /**
   * A transaction that stays open for longer does not hold up the history: it is not waited for.
   */
  static final Duration TIMEOUT = Duration.ofMinutes(15);

  /** So much is summed up in one transaction at most. */
  public static final Duration LONGEST_PIECE = Duration.ofMinutes(15);

  /** The first run begins with the oldest job, if that is not older than what is kept. */
  private static final Sql BEGIN =
      Sql.of(
          """
          INSERT INTO holdfast.history_cursor (known_since, summed_until)
          SELECT since, since
            FROM (SELECT date_trunc('minute', greatest(
                           least(statement_timestamp(),
                                 (SELECT created_at FROM holdfast.job
                                   ORDER BY created_at LIMIT 1)),
                           statement_timestamp() - :most * interval '1 millisecond')) AS since)
                 AS beginning
          ON CONFLICT DO NOTHING
          """);

  // Here and below by the key of the one row: a scan is switched off where this runs.
  private static final Sql LOCK =
      Sql.of(
          """
          SELECT summed_until, sampled_at, marked_at, clock_timestamp() AS now,
                 marked_xid <= pg_snapshot_xmin(pg_current_snapshot()) AS settled
            FROM holdfast.history_cursor
           WHERE singleton
             FOR UPDATE SKIP LOCKED
          """);

  private static final Sql IS_THERE =
      Sql.of("SELECT 1 FROM holdfast.history_cursor WHERE singleton");

  // The id of this transaction, which it got when it locked the cursor: one that gets a later id
  // writes later times, or times that are earlier by no more than the slack. The xmax of a snapshot
  // would not do: it may be an id that is in use already.
  private static final Sql MARK =
      Sql.of(
          """
          UPDATE holdfast.history_cursor
             SET marked_at = :now, marked_xid = pg_current_xact_id()
           WHERE singleton
          """);

  private static final Sql MOVE_ON =
      Sql.of("UPDATE holdfast.history_cursor SET summed_until = :until WHERE singleton");

  private static final Sql SAMPLED =
      Sql.of("UPDATE holdfast.history_cursor SET sampled_at = :minute WHERE singleton");

  private static final Sql SUM_UP =
      Sql.of(
          """
          INSERT INTO holdfast.history (step_seconds, ${columns})
          SELECT ${minute}, ${columns} FROM (${tallies}) AS tally
          """,
          "columns",
          TallySql.COLUMNS,
          "minute",
          Integer.toString(Resolution.MINUTE.seconds()),
          "tallies",
          TallySql.ofJobs());

  private static final Sql SUM_UP_MINUTES =
      Sql.of(
          """
          INSERT INTO holdfast.history (step_seconds, ${columns})
          SELECT :seconds, ${columns} FROM (${tallies}) AS tally
          """,
          "columns",
          TallySql.COLUMNS,
          "tallies",
          TallySql.ofMinutes());

  private static final List<Sql> FORGET =
      List.of(forget("holdfast.history"), forget("holdfast.queue_depth"));

  // Counted from what is summed up and not from now: after a long pause, the minutes of an hour
  // must
  // last until the hour is summed up.
  private static Sql forget(String table) {
    return Sql.of(
        "DELETE FROM ${table} WHERE step_seconds = :seconds AND at < :before", "table", table);
  }

  /**
   * @param settled whether all transactions before the mark have ended
   */
  private record Cursor(
      Instant summedUntil,
      @Nullable Instant sampledAt,
      @Nullable Instant markedAt,
      Instant now,
      boolean settled) {
    static Cursor read(ResultSet row) throws SQLException {
      return new Cursor(
          Rows.instant(row, "summed_until"),
          Rows.instantOrNull(row, "sampled_at"),
          Rows.instantOrNull(row, "marked_at"),
          Rows.instant(row, "now"),
          row.getBoolean("settled"));
    }

    boolean mayStillChange() {
      return !settled && markedAt != null && now.isBefore(markedAt.plus(TIMEOUT));
    }
  }

  /** How far it came. */
  public enum Progress {
    /** There is more to sum up now. */
    MORE,
    /** All is summed up that is final. */
    DONE,
    /** Another process is at it. */
    ELSEWHERE
  }

  private SumUpHistory() {}

  /** What to try after a piece that took too long, in whole minutes. */
  public static Duration shorter(Duration piece) {
    return Duration.ofMinutes(Math.max(1, piece.toMinutes() / 2));
  }

  /**
   * In a transaction of the caller, for statements that know their rows by key.
   *
   * @param most how much is summed up
   */
  public static Progress piece(Connection connection, Duration most) throws SQLException {
    Optional<Cursor> held = LOCK.on(connection).first(Cursor::read);
    if (held.isEmpty()) {
      boolean began =
          !IS_THERE.on(connection).found()
              && BEGIN.on(connection).set("most", Resolution.HOUR.kept()).update() > 0;
      return began ? Progress.MORE : Progress.ELSEWHERE;
    }
    Cursor cursor = held.get();
    sample(connection, cursor);
    if (cursor.mayStillChange()) {
      return Progress.DONE;
    }
    boolean more =
        cursor.markedAt() != null
            && sumUp(
                connection, cursor, Resolution.MINUTE.floor(cursor.markedAt().minus(SLACK)), most);
    if (!more) {
      MARK.on(connection).set("now", cursor.now()).update();
    }
    return more ? Progress.MORE : Progress.DONE;
  }

  private static void sample(Connection connection, Cursor cursor) throws SQLException {
    Instant minute = Resolution.MINUTE.floor(cursor.now());
    if (cursor.sampledAt() == null || cursor.sampledAt().isBefore(minute)) {
      SampleDepth.now(connection, minute);
      SAMPLED.on(connection).set("minute", minute).update();
    }
  }

  /** True when it did not come as far as it could. */
  private static boolean sumUp(
      Connection connection, Cursor cursor, Instant complete, Duration most) throws SQLException {
    Instant from = cursor.summedUntil();
    Instant end = from.plus(most);
    Instant until = complete.isBefore(end) ? complete : end;
    if (!until.isAfter(from)) {
      return false;
    }
    SUM_UP.on(connection).set("from", from).set("until", until).tenant(Tenant.ANY).update();
    for (Resolution longer : List.of(Resolution.QUARTER, Resolution.HOUR)) {
      sumUp(connection, longer, longer.floor(from), longer.floor(until));
    }
    MOVE_ON.on(connection).set("until", until).update();
    return until.isBefore(complete);
  }

  /** What ends with a step that is over is summed up for the step, and what is old is deleted. */
  private static void sumUp(Connection connection, Resolution to, Instant from, Instant until)
      throws SQLException {
    if (!until.isAfter(from)) {
      return;
    }
    SUM_UP_MINUTES
        .on(connection)
        .set("seconds", to.seconds())
        .set("from", from)
        .set("until", until)
        .update();
    SampleDepth.sumUp(connection, to, from, until);
    for (Resolution each : Resolution.values()) {
      for (Sql sql : FORGET) {
        sql.on(connection)
            .set("seconds", each.seconds())
            .set("before", until.minus(each.kept()))
            .update();
      }
    }
  }
}
