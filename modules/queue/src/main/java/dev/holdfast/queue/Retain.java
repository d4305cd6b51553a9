package dev.holdfast.queue;

import dev.holdfast.model.JobState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Deletes jobs that ended long ago: the only thing in Holdfast that deletes a job. */
final class Retain {
  // statement_timestamp(), because no index can be searched for what changes while it is read.
  private static final String SQL =
      """
      WITH old AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
         WHERE j.finished_at < statement_timestamp() - ? * interval '1 millisecond'
           AND j.state = ?
         LIMIT ?
           FOR UPDATE SKIP LOCKED
      )
      DELETE FROM holdfast.job j USING old
       WHERE j.id = old.id AND j.state = ?
      """;

  private Retain() {}

  static int delete(Connection connection, JobState state, Duration olderThan, int most)
      throws SQLException {
    if (!state.isTerminal()) {
      throw new IllegalArgumentException("a job in " + state + " is never deleted");
    }
    return Rows.update(connection, SQL, olderThan, state.name(), most, state.name());
  }
}
