package dev.holdfast.queue.notice;

import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.wait.ReadQuestion;
import java.sql.Connection;
import java.sql.SQLException;

/** Ends notices that are to be tried later, and whose questions are not asked any longer. */
public final class SupersedeNotices {
  private static final Sql SQL =
      Sql.of(
          """
          WITH over AS MATERIALIZED (
            SELECT n.id
              FROM holdfast.notice n JOIN holdfast.job j ON j.id = n.job_id
             WHERE n.state = 'PENDING' AND NOT ${asks}
             ORDER BY n.id
             LIMIT :most
               FOR UPDATE OF n SKIP LOCKED
          )
          UPDATE holdfast.notice n
             SET state = 'SUPERSEDED', next_try_at = NULL, ended_at = clock_timestamp()
            FROM over o
           WHERE n.id = o.id
          """,
          "asks",
          ReadQuestion.asks("j", "n.wait_id", "n.asked_at"));

  private SupersedeNotices() {}

  public static int of(Connection connection, int most) throws SQLException {
    return SQL.on(connection).set("most", most).update();
  }
}
