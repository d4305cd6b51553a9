package dev.holdfast.queue.sql;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The condition under which an attempt may write: the job runs, and its attempt is the one that the
 * caller names. A worker that lost its lease still knows the job's id, but its late write matches
 * no row.
 */
public final class FenceSql {
  private static final Sql HOLD =
      Sql.of(
          "SELECT j.id FROM holdfast.job j WHERE ${held} FOR NO KEY UPDATE", "held", isHeld("j"));

  private static final Sql HOLD_ALL =
      Sql.of(
          """
          SELECT j.id, j.attempt
            FROM unnest(:jobs::uuid[], :attempts::int4[]) AS a(id, attempt)
            JOIN holdfast.job j ON j.id = a.id AND j.attempt = a.attempt
           WHERE ${running}
           ORDER BY j.id
             FOR NO KEY UPDATE OF j
          """,
          "running",
          isRunning("j"));

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

  /**
   * Locks the rows of these jobs until the transaction ends, for a statement that looks at more
   * than these rows: it sees all that was committed before the locks were granted.
   *
   * @return the leases that are held
   */
  public static Set<Lease> hold(Connection connection, List<Lease> leases) throws SQLException {
    return new HashSet<>(HOLD_ALL.on(connection).leases(leases).list(Rows::lease));
  }

  /** Locks the job's row until the transaction ends. False when the lease is lost. */
  public static boolean hold(Connection connection, Lease lease) throws SQLException {
    return HOLD.on(connection).lease(lease).found();
  }
}
