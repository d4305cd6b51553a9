package dev.holdfast.queue.sql;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The condition under which an attempt may write: the job runs, and its attempt is the one that the
 * caller names. A worker that lost its lease still knows the job's id, but its late write matches
 * no row.
 */
public final class FenceSql {
  private static final Sql HOLD =
      Sql.of(
          "SELECT j.id FROM holdfast.job j WHERE ${held} FOR NO KEY UPDATE", "held", isHeld("j"));

  private FenceSql() {}

  /**
   * That a job runs, for rows that are found by their ids. Not {@code state = 'RUNNING'}: the
   * planner would take the partial index job_running for it, which is full of dead entries of all
   * that ran since the last vacuum. A CHECK constraint keeps both conditions equal.
   */
  public static String isRunning(String job) {
    return job + ".lease_expires_at IS NOT NULL";
  }

  /** That the attempt of {@link Sql.Call#lease} holds the job. */
  public static String isHeld(String job) {
    return "%1$s.id = :job AND %1$s.attempt = :attempt AND %2$s".formatted(job, isRunning(job));
  }

  /** Locks the job's row until the transaction ends. False when the lease is lost. */
  public static boolean hold(Connection connection, Lease lease) throws SQLException {
    return HOLD.on(connection).lease(lease).found();
  }
}
