package dev.holdfast.queue;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Makes RETRYING jobs claimable again once they have waited out their backoff. */
final class Promote {
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
      """;
  private static final String OF_ALL = SQL.formatted("true");
  private static final String OF_ONE = SQL.formatted("j.queue = ?");

  private Promote() {}

  static int due(Database database, @Nullable String queue) {
    int promoted = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
      int now = database.run("promote", connection -> due(connection, queue));
      promoted += now;
      if (now < BATCH) {
        break;
      }
    }
    return promoted;
  }

  private static int due(Connection connection, @Nullable String queue) throws SQLException {
    return queue == null
        ? Rows.update(connection, OF_ALL, BATCH)
        : Rows.update(connection, OF_ONE, queue, BATCH);
  }
}
