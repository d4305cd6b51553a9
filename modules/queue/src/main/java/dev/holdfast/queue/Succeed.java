package dev.holdfast.queue;

import dev.holdfast.model.Lease;
import dev.holdfast.model.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Moves running jobs to SUCCEEDED, each if the caller still holds it. Writes no row but theirs. */
final class Succeed {
  // The attempt is the fence: a worker that lost its lease still knows the job id, but its late
  // write matches no row. The rows are locked in the order of their ids, as every batch does it.
  private static final String SQL =
      """
      WITH done AS (
        SELECT * FROM unnest(?::uuid[], ?::int4[], ?::text[]) AS d(id, attempt, result)
      ), held AS MATERIALIZED (
        SELECT j.id, d.result
          FROM holdfast.job j JOIN done d ON d.id = j.id AND d.attempt = j.attempt
         WHERE j.state = 'RUNNING'
         ORDER BY j.id
           FOR NO KEY UPDATE OF j
      )
      UPDATE holdfast.job j
         SET state = 'SUCCEEDED', result = h.result::jsonb, finished_at = clock_timestamp(),
             heartbeat_at = NULL, lease_expires_at = NULL, events = j.events + 1,
             unique_states = holdfast.unique_after(j.unique_states, 'SUCCEEDED')
        FROM held h
       WHERE j.id = h.id AND j.state = 'RUNNING'
      RETURNING j.id, j.attempt
      """;

  private static final String SUCCEEDED_BEFORE =
      """
      SELECT j.id, j.attempt
        FROM unnest(?::uuid[], ?::int4[]) AS l(id, attempt)
        JOIN holdfast.job j ON j.id = l.id AND j.attempt = l.attempt
       WHERE j.state = 'SUCCEEDED'
      """;

  private Succeed() {}

  /** The leases that are settled now: by this call, or by an earlier one whose answer was lost. */
  static Set<Lease> all(Connection connection, List<Settlement.Succeed> settlements)
      throws SQLException {
    List<Lease> leases = settlements.stream().map(Settlement.Succeed::lease).toList();
    Set<Lease> settled =
        new HashSet<>(
            Rows.list(
                connection,
                Rows::lease,
                SQL,
                Rows.ids(connection, leases),
                Rows.attempts(connection, leases),
                Rows.array(connection, "text", settlements, Settlement.Succeed::result)));
    if (settled.size() < leases.size()) {
      settled.addAll(before(connection, leases));
    }
    return settled;
  }

  static Set<Lease> before(Connection connection, List<Lease> leases) throws SQLException {
    return new HashSet<>(
        Rows.list(
            connection,
            Rows::lease,
            SUCCEEDED_BEFORE,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases)));
  }
}
