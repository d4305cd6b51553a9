package dev.holdfast.queue.notice;

import dev.holdfast.model.notice.Notice;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.wait.ReadQuestion;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/**
 * Takes notices that are due, for one try each. Another server may try one again when the time is
 * over for which this one holds it; the number of the try is the fence. A notice whose question is
 * not asked any longer is superseded instead.
 */
public final class ClaimNotices {
  private static final Sql SQL =
      Sql.of(
          """
          WITH due AS MATERIALIZED (
            SELECT n.id, n.job_id, n.wait_id, n.asked_at
              FROM holdfast.notice n
             WHERE n.state = 'PENDING' AND n.next_try_at <= clock_timestamp()
             ORDER BY n.next_try_at, n.id
             LIMIT :most
               FOR UPDATE SKIP LOCKED
          ), looked AS MATERIALIZED (
            SELECT d.id AS notice_id, ${asks} AS asks, ${job}
              FROM due d JOIN holdfast.job j ON j.id = d.job_id
          ), taken AS (
            UPDATE holdfast.notice n
               SET state = CASE WHEN l.asks THEN 'PENDING' ELSE 'SUPERSEDED' END,
                   attempts = n.attempts + l.asks::int,
                   next_try_at = CASE WHEN l.asks
                     THEN clock_timestamp() + :hold * interval '1 millisecond' END,
                   ended_at = CASE WHEN NOT l.asks THEN clock_timestamp() END
              FROM looked l
             WHERE n.id = l.notice_id
            RETURNING n.id, n.attempts
          )
          SELECT t.attempts, l.*
            FROM taken t JOIN looked l ON l.notice_id = t.id
           WHERE l.asks
           ORDER BY l.notice_id
          """,
          "asks",
          ReadQuestion.asks("j", "d.wait_id", "d.asked_at"),
          "job",
          ReadQuestion.COLUMNS);

  private ClaimNotices() {}

  /**
   * @param hold how long no other server tries them
   */
  public static List<Notice.Try> of(Connection connection, int most, Duration hold)
      throws SQLException {
    return SQL.on(connection)
        .set("most", most)
        .set("hold", hold)
        .list(
            row ->
                new Notice.Try(
                    row.getObject("notice_id", UUID.class),
                    row.getInt("attempts"),
                    ReadQuestion.open(row)));
  }
}
