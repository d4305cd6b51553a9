package dev.holdfast.queue.command;

import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Deletes one job that does not run, with its attempts, timeline, steps and log. What it has
 * published is left to the cleaner of the store that has the files.
 */
public final class Delete {
  // An enqueue of a job that depends on this one locks the row in key share mode. After this
  // lock, each such job is committed and seen by the next statement, or cannot be written.
  private static final Sql LOCK = Sql.of("SELECT id FROM holdfast.job WHERE id = :job FOR UPDATE");

  // Without the row of the dependency, a waiting job would run as if all had gone well.
  private static final Sql AWAITED =
      Sql.of(
          """
          SELECT d.job_id
            FROM holdfast.dependency d
            JOIN holdfast.job waiting ON waiting.id = d.job_id
           WHERE d.depends_on_id = :job AND waiting.state = 'WAITING'
           LIMIT 1
          """);

  private static final Sql SQL =
      Sql.of(
          """
          WITH deleted AS (
            DELETE FROM holdfast.job j WHERE j.id = :job AND j.lease_expires_at IS NULL
            RETURNING j.id
          )
          UPDATE holdfast.artifact a
             SET orphaned_at = clock_timestamp()
            FROM deleted d
           WHERE a.job_id = d.id
          """);

  private Delete() {}

  /** In one transaction; empty when there is no such job. */
  public static Optional<Deletion> one(Connection connection, JobId job, Tenant tenant)
      throws SQLException {
    Optional<JobState> state = LockJob.stateOf(connection, job, tenant);
    if (state.isEmpty()) {
      return Optional.empty();
    }
    Deletion.Outcome outcome = outcome(connection, job, state.get());
    if (outcome == Deletion.Outcome.DELETED) {
      SQL.on(connection).set("job", job).update();
    }
    return Optional.of(new Deletion(job, state.get(), outcome));
  }

  private static Deletion.Outcome outcome(Connection connection, JobId job, JobState state)
      throws SQLException {
    if (state == JobState.RUNNING) {
      return Deletion.Outcome.RUNNING;
    }
    if (!LOCK.on(connection).set("job", job).found()) {
      throw new IllegalStateException("job " + job + " was locked, and is gone");
    }
    boolean awaited = state != JobState.SUCCEEDED && AWAITED.on(connection).set("job", job).found();
    return awaited ? Deletion.Outcome.AWAITED : Deletion.Outcome.DELETED;
  }
}
