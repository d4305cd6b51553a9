package dev.holdfast.queue.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.batch.LockedJob;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Locks a job that a verb changes. */
public final class LockJob {
  // The row lock orders a command against the worker that handles an earlier one.
  private static final Sql LOCK =
      Sql.of(
          """
          SELECT j.state, ${columns}
            FROM holdfast.job j
           WHERE j.id = :job AND ${tenant}
             FOR NO KEY UPDATE
          """,
          "columns",
          LockedJob.COLUMNS,
          "tenant",
          TenantSql.isOf("j"));

  private LockJob() {}

  public static List<LockedJob> of(Connection connection, JobId job, Tenant tenant)
      throws SQLException {
    return LOCK.on(connection).set("job", job).tenant(tenant).list(LockedJob::read);
  }

  /** The state of the locked job; empty if there is no such job. */
  public static Optional<JobState> stateOf(Connection connection, JobId job, Tenant tenant)
      throws SQLException {
    return LOCK.on(connection)
        .set("job", job)
        .tenant(tenant)
        .first(row -> JobState.valueOf(row.getString("state")));
  }
}
