package dev.holdfast.queue.batch;

import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.lease.Heartbeat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Verbs as JobQueue runs them, on a connection whose transaction the test ends. */
public final class OnConnection {
  private OnConnection() {}

  public static List<HeartbeatResult> heartbeat(
      Connection connection, List<Lease> leases, Duration lease) throws SQLException {
    return heartbeat(connection, Heartbeat.of(leases, lease), Heartbeat.LOCK_TIMEOUT);
  }

  public static List<HeartbeatResult> heartbeat(
      Connection connection, Heartbeat heartbeat, Duration lockTimeout) throws SQLException {
    return MaterializedJobs.extending(connection, lockTimeout, heartbeat);
  }

  public static List<Cancellation> cancel(Connection connection, List<JobId> jobs, boolean cascade)
      throws SQLException {
    return Cancel.some(connection, jobs, cascade, "enough", Tenant.ANY);
  }

  public static <T> T changing(
      Connection connection, Database.Work<List<LockedJob>> lock, Database.Work<T> change)
      throws SQLException {
    return MaterializedJobs.changing(connection, lock, change);
  }
}
