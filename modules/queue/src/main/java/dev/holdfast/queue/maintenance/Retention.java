package dev.holdfast.queue.maintenance;

import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Deletes jobs that ended long ago. What they have published is left to the cleaner of the store
 * that has the files.
 */
public final class Retention {
  // statement_timestamp(), because no index can be searched for what changes while it is read.
  private static final Sql SQL =
      Sql.of(
          """
      WITH old AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
         WHERE j.finished_at < statement_timestamp() - :olderThan * interval '1 millisecond'
           AND j.state = :state
           -- What a job has started is kept for its handler until it has ended, too.
           AND (j.started_as IS NULL OR NOT EXISTS (
             SELECT FROM holdfast.job p WHERE p.id = j.parent_id AND p.finished_at IS NULL))
           -- And for forks of that job.
           AND (j.parent_id IS NULL OR NOT EXISTS (
             SELECT FROM holdfast.job f
              WHERE f.forked_from = j.parent_id AND f.finished_at IS NULL))
         LIMIT :most
           FOR UPDATE SKIP LOCKED
      ), deleted AS (
        DELETE FROM holdfast.job j USING old
         WHERE j.id = old.id AND j.state = :state
        RETURNING j.id
      ), orphaned AS (
        UPDATE holdfast.artifact a
           SET orphaned_at = clock_timestamp()
          FROM deleted d
         WHERE a.job_id = d.id
      )
      SELECT count(*) AS deleted FROM deleted
      """);

  private Retention() {}

  public static int delete(Connection connection, JobState state, Duration olderThan, int most)
      throws SQLException {
    if (!state.isTerminal()) {
      throw new IllegalArgumentException("a job in " + state + " is never deleted");
    }
    return SQL.on(connection)
        .set("olderThan", olderThan)
        .set("state", state.name())
        .set("most", most)
        // Beside very many jobs that have not ended, none of these is read.
        .listByKey(row -> row.getInt("deleted"))
        .getFirst();
  }
}
