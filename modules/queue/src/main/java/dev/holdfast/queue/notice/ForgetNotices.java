package dev.holdfast.queue.notice;

import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Deletes notices that have ended, of jobs that are kept. */
public final class ForgetNotices {
  private static final Sql SQL =
      Sql.of(
          """
          DELETE FROM holdfast.notice
           WHERE id IN (SELECT n.id FROM holdfast.notice n
                         WHERE n.created_at < clock_timestamp() - :age * interval '1 millisecond'
                           AND n.state <> 'PENDING'
                         ORDER BY n.created_at, n.id
                         LIMIT :most)
          """);

  private ForgetNotices() {}

  public static int of(Connection connection, Duration olderThan, int most) throws SQLException {
    return SQL.on(connection).set("age", olderThan).set("most", most).update();
  }
}
