package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes RETRYING jobs claimable again once they have waited out their backoff. */
public final class Promote {
  private static final int BATCH = 1_000;
  private static final int BATCHES = 100;

  private static final String SQL =
      """
      WITH due AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
         WHERE j.state = 'RETRYING' AND %s
           AND j.run_at <= statement_timestamp()
         ORDER BY j.queue, j.run_at
         LIMIT ?
           FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE holdfast.job j
         SET state = 'PENDING',
             unique_states = holdfast.unique_after(j.unique_states, 'PENDING')
        FROM due
       WHERE j.id = due.id AND j.state = 'RETRYING'
      RETURNING j.queue
      """;
  private static final String OF_ALL = SQL.formatted("true");
  private static final String OF_ONE = SQL.formatted("j.queue = ?");

  private Promote() {}

  /** The queue of each job that can be claimed now. */
  public static List<String> due(Database database, @Nullable String queue) {
    List<String> promoted = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      List<String> now = database.run("promote", connection -> due(connection, queue));
      promoted.addAll(now);
      if (now.size() < BATCH) {
        break;
      }
    }
    return promoted;
  }

  private static List<String> due(Connection connection, @Nullable String queue)
      throws SQLException {
    return queue == null
        ? Rows.list(connection, row -> row.getString("queue"), OF_ALL, BATCH)
        : Rows.list(connection, row -> row.getString("queue"), OF_ONE, queue, BATCH);
  }
}
