package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Moves running jobs to SUCCEEDED, each if the caller still holds it. Writes no row but theirs. */
public final class Succeed {
  // The attempt is the fence: a worker that lost its lease still knows the job id, but its late
  // write matches no row. The rows are locked in the order of their ids, as every batch does it,
  // each looked up by its id: joined as a whole, the planner may walk the index of running jobs
  // instead, with all that ran since the last vacuum in it. They are then written by their place.
  private static final String SQL =
      """
      WITH input AS MATERIALIZED (
        SELECT ?::uuid[] AS ids, ?::int4[] AS attempts, ?::text[] AS results
      ), held AS MATERIALIZED (
        SELECT job.place
          FROM (SELECT d.id, d.attempt
                  FROM input, unnest(input.ids, input.attempts) AS d(id, attempt)
                 ORDER BY d.id) AS done
         CROSS JOIN LATERAL (
           SELECT j.ctid AS place
             FROM holdfast.job j
            WHERE j.id = done.id AND j.attempt = done.attempt
              -- Running, in other words, and words that no index could be chosen by.
              AND j.lease_expires_at IS NOT NULL
            LIMIT 1
              FOR NO KEY UPDATE) AS job
      )
      UPDATE holdfast.job j
         SET state = 'SUCCEEDED', finished_at = clock_timestamp(),
             -- The ids are sorted, so the bucket an id falls into is its place among them.
             result = (SELECT results FROM input)[width_bucket(j.id, (SELECT ids FROM input))]::jsonb,
             heartbeat_at = NULL, lease_expires_at = NULL, events = j.events + 1,
             unique_states = holdfast.unique_after(j.unique_states, 'SUCCEEDED')
       WHERE j.ctid = ANY (ARRAY(SELECT h.place FROM held h))
      RETURNING j.id, j.attempt
      """;

  // For a row that a heartbeat changed between our snapshot and our lock: its new place is not yet
  // visible to us, but by its id it is found.
  private static final String BY_ID =
      """
      UPDATE holdfast.job j
         SET state = 'SUCCEEDED', result = ?::jsonb, finished_at = clock_timestamp(),
             heartbeat_at = NULL, lease_expires_at = NULL, events = j.events + 1,
             unique_states = holdfast.unique_after(j.unique_states, 'SUCCEEDED')
       WHERE j.id = ? AND j.attempt = ? AND j.lease_expires_at IS NOT NULL
      """;

  private static final String SUCCEEDED_BEFORE =
      """
      SELECT j.id, j.attempt
        FROM unnest(?::uuid[], ?::int4[]) AS l(id, attempt)
        JOIN holdfast.job j ON j.id = l.id AND j.attempt = l.attempt
       WHERE j.state = 'SUCCEEDED'
      """;

  // Of two attempts at one job the later one counts, and it is the one the bucket leads to.
  private static final Comparator<Settlement> ORDER =
      Comparator.comparing((Settlement settlement) -> settlement.lease().job())
          .thenComparingInt(settlement -> settlement.lease().attempt());

  private Succeed() {}

  /** The leases that are settled now: by this call, or by an earlier one whose answer was lost. */
  public static Set<Lease> all(Connection connection, List<Settlement.Succeed> settlements)
      throws SQLException {
    List<Settlement.Succeed> sorted = settlements.stream().sorted(ORDER).toList();
    List<Lease> leases = sorted.stream().map(Settlement.Succeed::lease).toList();
    Set<Lease> settled =
        new HashSet<>(
            Rows.listByKey(
                connection,
                Rows::lease,
                SQL,
                Rows.ids(connection, leases),
                Rows.attempts(connection, leases),
                Rows.array(connection, "text", sorted, Settlement.Succeed::result)));
    if (settled.size() < leases.size()) {
      settled.addAll(before(connection, leases));
    }
    for (Settlement.Succeed left : sorted) {
      Lease lease = left.lease();
      if (!settled.contains(lease)
          && Rows.update(connection, BY_ID, left.result(), lease.job(), lease.attempt()) == 1) {
        settled.add(lease);
      }
    }
    return settled;
  }

  public static Set<Lease> before(Connection connection, List<Lease> leases) throws SQLException {
    return new HashSet<>(
        Rows.list(
            connection,
            Rows::lease,
            SUCCEEDED_BEFORE,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases)));
  }
}
