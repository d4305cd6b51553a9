package dev.holdfast.queue;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Pulse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Extends all leases of a worker in one statement, and brings back who was cancelled or lost. */
final class Heartbeat {
  // Not "and the lease has not run out": after an outage a lease nobody took is simply extended.
  // SKIP LOCKED, because a handler may hold its own row locked for long, by settling in its
  // transaction; the heartbeat of all other jobs must not wait for it, and nor can the reaper
  // take a locked row. Whether such a lease is still held is read, not locked, in the last select.
  // Each row is looked up by its id, never joined as a whole, as in Succeed.
  private static final String SQL =
      """
      WITH beat AS MATERIALIZED (
        SELECT * FROM unnest(?::uuid[], ?::int4[]) AS b(id, attempt)
      ), held AS MATERIALIZED (
        SELECT job.*
          FROM (SELECT * FROM beat ORDER BY id) AS b
         CROSS JOIN LATERAL (
           SELECT j.id, j.attempt, j.cancel_reason
             FROM holdfast.job j
            WHERE j.id = b.id AND j.attempt = b.attempt AND j.lease_expires_at IS NOT NULL
            LIMIT 1
              FOR NO KEY UPDATE SKIP LOCKED) AS job
      ), extended AS (
        UPDATE holdfast.job j
           SET heartbeat_at = statement_timestamp(),
               lease_expires_at = statement_timestamp() + ? * interval '1 millisecond'
          FROM held h
         WHERE j.id = h.id AND j.lease_expires_at IS NOT NULL
      )
      SELECT b.id, b.attempt, h.id IS NOT NULL OR locked.id IS NOT NULL AS held,
             coalesce(h.cancel_reason, locked.cancel_reason) AS cancel_reason
        FROM beat b
        LEFT JOIN held h ON h.id = b.id AND h.attempt = b.attempt
        LEFT JOIN LATERAL (
          SELECT j.id, j.cancel_reason
            FROM holdfast.job j
           WHERE h.id IS NULL AND j.id = b.id AND j.attempt = b.attempt
             AND j.lease_expires_at IS NOT NULL) AS locked ON true
      """;

  private static final String CANCELLING =
      """
      SELECT id, attempt, cancel_reason
        FROM holdfast.job
       WHERE worker_id = ? AND state = 'RUNNING' AND cancel_requested_at IS NOT NULL
      """;

  private Heartbeat() {}

  static List<Pulse> of(Connection connection, List<Lease> leases, Duration lease)
      throws SQLException {
    return Rows.listByKey(
        connection,
        row ->
            new Pulse(
                Rows.lease(row),
                row.getBoolean("held") ? Ack.ACCEPTED : Ack.LEASE_LOST,
                row.getString("cancel_reason")),
        SQL,
        Rows.ids(connection, leases),
        Rows.attempts(connection, leases),
        lease);
  }

  /** Only the cancelled ones: cheap enough to ask twice a second between heartbeats. */
  static List<Pulse> cancelling(Connection connection, String worker) throws SQLException {
    return Rows.list(
        connection,
        row -> new Pulse(Rows.lease(row), Ack.ACCEPTED, row.getString("cancel_reason")),
        CANCELLING,
        worker);
  }
}
