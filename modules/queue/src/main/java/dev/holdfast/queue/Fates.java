package dev.holdfast.queue;

import dev.holdfast.model.Attempt;
import dev.holdfast.model.Fate;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.model.Lease;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Looks up where jobs stand, without all that belongs to them. */
final class Fates {
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

  private Fates() {}

  static Map<Lease, String> workers(Connection connection, List<Lease> leases) throws SQLException {
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

  static Optional<Attempt> ended(Connection connection, Lease lease) throws SQLException {
    return Rows.list(connection, JobReader::attempt, ENDED, lease.job(), lease.attempt()).stream()
        .findFirst();
  }

  static List<Fate> of(Connection connection, List<JobId> jobs) throws SQLException {
    return Rows.list(
        connection,
        row ->
            new Fate(
                Rows.id(row, "id"),
                row.getString("tenant"),
                JobState.valueOf(row.getString("state")),
                row.getInt("attempt"),
                row.getString("failure_code")),
        SQL,
        Rows.array(connection, "uuid", jobs, job -> job));
  }
}
