package dev.holdfast.queue.wait;

import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends waits whose time is over: sleeps, and others that nothing has ended in time. A job that has
 * slept stands in its queue where one would that is due at that time; any other at its old place.
 */
public final class Wake {
  private static final int BATCH = 1_000;
  private static final int BATCHES = 100;

  private static final String OUTCOME =
      """
      CASE WHEN j.wait_sort = 'SLEEP' THEN 'TIME'
           WHEN j.wait -> 'question' ->> 'afterwards' = 'APPROVE' THEN 'APPROVED'
           WHEN j.wait -> 'question' ->> 'afterwards' = 'REJECT' THEN 'REJECTED'
           ELSE 'TIMEOUT' END
      """;

  private static final Sql OF_ALL = sql("true");
  private static final Sql OF_ONE = sql("j.queue = :queue");

  private Wake() {}

  private static Sql sql(String queue) {
    return WakeSql.of(
        Sql.fragment(
            """
            WITH over AS MATERIALIZED (
              SELECT j.id, j.wait,
                     CASE j.wait_sort WHEN 'SLEEP' THEN j.wake_at END AS run_at,
                     ${ended} AS ended, NULL::jsonb AS payload
                FROM holdfast.job j
               WHERE j.wake_at <= statement_timestamp() AND ${queue} AND ${waiting}
               ORDER BY j.queue, j.wake_at
               LIMIT :most
                 FOR NO KEY UPDATE SKIP LOCKED
            )
            """,
            "ended",
            WakeSql.ended("j.wait_sort", OUTCOME, ", 'at', j.wake_at"),
            "queue",
            queue,
            "waiting",
            WakeSql.IS_WAITING));
  }

  /** The queue of each job that can be claimed now. */
  public static List<String> due(Database database, @Nullable String queue) {
    List<String> woken = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      List<String> now = database.run("wake", connection -> due(connection, queue));
      woken.addAll(now);
      if (now.size() < BATCH) {
        break;
      }
    }
    return woken;
  }

  /** One batch; package-private for tests. */
  static List<String> due(Connection connection, @Nullable String queue) throws SQLException {
    Sql.Call call =
        queue == null ? OF_ALL.on(connection) : OF_ONE.on(connection).set("queue", queue);
    return call.set("most", BATCH).list(row -> row.getString("queue"));
  }
}
