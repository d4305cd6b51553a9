package dev.holdfast.queue.notice;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Ends a try of a notice, unless another one has begun since. */
public final class SettleNotice {
  private static final String HELD = "id = :id AND attempts = :attempt";

  // It was received, even if its question has been decided meanwhile.
  private static final Sql DELIVERED =
      Sql.of(
          """
          UPDATE holdfast.notice
             SET state = 'DELIVERED', next_try_at = NULL, ended_at = clock_timestamp(),
                 last_status = :status, last_error = NULL
           WHERE ${held} AND state IN ('PENDING', 'SUPERSEDED')
          """,
          "held",
          HELD);

  private static final Sql FAILED =
      Sql.of(
          """
          UPDATE holdfast.notice n
             SET last_status = :status, last_error = :error,
                 state = CASE WHEN t.tried THEN 'PENDING' ELSE 'GIVEN_UP' END,
                 next_try_at = CASE WHEN t.tried THEN t.next END,
                 ended_at = CASE WHEN NOT t.tried THEN clock_timestamp() END
            FROM (SELECT id AS of, d.next, d.next <= give_up_at AS tried
                    FROM holdfast.notice,
                         (SELECT clock_timestamp() + :delay * interval '1 millisecond' AS next) AS d
                   WHERE ${held} AND state = 'PENDING'
                     FOR UPDATE OF notice) AS t
           WHERE n.id = t.of
          """,
          "held",
          HELD);

  private static final Sql RELEASED =
      Sql.of(
          """
          UPDATE holdfast.notice SET next_try_at = clock_timestamp()
           WHERE ${held} AND state = 'PENDING'
          """,
          "held",
          HELD);

  private SettleNotice() {}

  /** False when another try has begun since. */
  public static boolean delivered(Connection connection, Notice.Try tried, int status)
      throws SQLException {
    return held(DELIVERED.on(connection), tried).set("status", status).update() == 1;
  }

  /**
   * Tried again after a time, or given up where that is too late.
   *
   * @param status that the receiver answered; null if it did not
   * @return false when another try has begun since
   */
  public static boolean failed(
      Connection connection,
      Notice.Try tried,
      @Nullable Integer status,
      String error,
      Duration delay)
      throws SQLException {
    return held(FAILED.on(connection), tried)
            .set("status", status)
            .set("error", error)
            .set("delay", delay)
            .update()
        == 1;
  }

  /** Another server may try it at once. */
  public static boolean released(Connection connection, Notice.Try tried) throws SQLException {
    return held(RELEASED.on(connection), tried).update() == 1;
  }

  private static Sql.Call held(Sql.Call call, Notice.Try tried) {
    return call.set("id", tried.id()).set("attempt", tried.attempt());
  }
}
