package dev.holdfast.queue.read;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Looks up where jobs stand, without all that belongs to them. */
public final class JobStates {
  private static final String SQL =
      """
      SELECT j.id, j.tenant, j.state, j.attempt, j.failure ->> 'code' AS failure_code
        FROM holdfast.job j
       WHERE j.id = ANY (?::uuid[])
      """;

  // What succeeded, or runs, is read from its job; all else from its attempt.
  private static final String WORKERS =
      """
      SELECT l.id, l.attempt, coalesce(a.worker_id, j.worker_id) AS worker_id
        FROM unnest(?::uuid[], ?::int4[]) AS l(id, attempt)
        JOIN holdfast.job j ON j.id = l.id
        LEFT JOIN holdfast.attempt a ON a.job_id = l.id AND a.attempt = l.attempt
       WHERE a.worker_id IS NOT NULL OR (j.attempt = l.attempt AND j.worker_id IS NOT NULL)
      """;

  private static final String ENDED =
      """
      SELECT a.attempt, a.outcome, a.worker_id, a.started_at, a.ended_at, a.failure
        FROM holdfast.attempt a
       WHERE a.job_id = ? AND a.attempt = ?
      """;

  private JobStates() {}

  public static Map<Lease, String> workers(Connection connection, List<Lease> leases)
      throws SQLException {
    Map<Lease, String> workers = new HashMap<>();
    Rows.listByKey(
            connection,
            row -> Map.entry(Rows.lease(row), row.getString("worker_id")),
            WORKERS,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases))
        .forEach(entry -> workers.put(entry.getKey(), entry.getValue()));
    return workers;
  }

  public static Optional<Attempt> ended(Connection connection, Lease lease) throws SQLException {
    return Rows.list(connection, JobReader::attempt, ENDED, lease.job(), lease.attempt()).stream()
        .findFirst();
  }

  public static List<JobStateSnapshot> of(Connection connection, List<JobId> jobs)
      throws SQLException {
    return Rows.list(
        connection,
        row ->
            new JobStateSnapshot(
                Rows.id(row, "id"),
                row.getString("tenant"),
                JobState.valueOf(row.getString("state")),
                row.getInt("attempt"),
                row.getString("failure_code")),
        SQL,
        Rows.array(connection, "uuid", jobs, job -> job));
  }
}
