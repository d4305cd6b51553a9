package dev.holdfast.queue.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.batch.MaterializeBatch;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A job whose row the transaction has locked.
 *
 * @param notMaterialized no claim has written its row: it was never claimed, or it is in a batch
 */
record LockedJob(JobState state, String queue, boolean notMaterialized) {
  // The row lock orders a command against the worker that handles an earlier one.
  private static final Sql LOCK =
      Sql.of(
          """
          SELECT j.state, j.queue, ${notMaterialized} AS not_materialized
            FROM holdfast.job j
           WHERE j.id = :job AND ${tenant}
             FOR NO KEY UPDATE
          """,
          "notMaterialized",
          BatchSql.isNotMaterialized("j"),
          "tenant",
          TenantSql.isOf("j"));

  /** Locks a job, and materializes it if it is in a batch: such a job runs. */
  static Optional<JobState> stateOf(Connection connection, JobId job, Tenant tenant)
      throws SQLException {
    Optional<LockedJob> locked = lock(connection, job, tenant);
    if (locked.isPresent() && locked.get().notMaterialized()) {
      MaterializeBatch.beforeChange(connection, List.of(job), Set.of(locked.get().queue()));
      locked = lock(connection, job, tenant);
    }
    return locked.map(LockedJob::state);
  }

  private static Optional<LockedJob> lock(Connection connection, JobId job, Tenant tenant)
      throws SQLException {
    return LOCK.on(connection).set("job", job).tenant(tenant).first(LockedJob::read);
  }

  private static LockedJob read(ResultSet row) throws SQLException {
    return new LockedJob(
        JobState.valueOf(row.getString("state")),
        row.getString("queue"),
        row.getBoolean("not_materialized"));
  }
}
