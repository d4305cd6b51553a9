package dev.holdfast.queue;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Makes RETRYING jobs claimable again once they have waited out their backoff. */
final class Promote {
  private static final String SQL =
      """
      WITH due AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
         WHERE j.state = 'RETRYING' AND j.queue = coalesce(?, j.queue)
           AND j.run_at <= statement_timestamp()
         ORDER BY j.run_at
         LIMIT 1000
           FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE holdfast.job j
         SET state = 'PENDING',
             unique_states = holdfast.unique_after(j.unique_states, 'PENDING')
        FROM due
       WHERE j.id = due.id AND j.state = 'RETRYING'
      """;

  private Promote() {}

  static int due(Database database, @Nullable String queue) {
    return database.run("promote", connection -> due(connection, queue));
  }

  private static int due(Connection connection, @Nullable String queue) throws SQLException {
    return Rows.update(connection, SQL, queue);
  }
}
