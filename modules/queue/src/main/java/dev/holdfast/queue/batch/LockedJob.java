package dev.holdfast.queue.batch;

import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.sql.BatchSql;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A job whose row the transaction has locked.
 *
 * @param notMaterialized no claim has written its row: it was never claimed, or it is in a batch
 */
public record LockedJob(JobId job, String queue, boolean notMaterialized) {
  /** What {@link #read} reads of {@code j}. */
  public static final String COLUMNS =
      "j.id, j.queue, " + BatchSql.isNotMaterialized("j") + " AS not_materialized";

  public static LockedJob read(ResultSet row) throws SQLException {
    return new LockedJob(
        Rows.id(row, "id"), row.getString("queue"), row.getBoolean("not_materialized"));
  }
}
