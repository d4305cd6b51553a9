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
  private static final String SQL =
      """
      WITH beat AS (
        SELECT * FROM unnest(?::uuid[], ?::int4[]) AS b(id, attempt)
      ), held AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j JOIN beat b ON b.id = j.id AND b.attempt = j.attempt
         WHERE j.state = 'RUNNING'
         ORDER BY j.id
           FOR NO KEY UPDATE OF j SKIP LOCKED
      ), extended AS (
        UPDATE holdfast.job j
           SET heartbeat_at = statement_timestamp(),
               lease_expires_at = statement_timestamp() + ? * interval '1 millisecond'
          FROM held h
         WHERE j.id = h.id AND j.state = 'RUNNING'
      )
      SELECT b.id, b.attempt, j.id IS NOT NULL AS held, j.cancel_reason
        FROM beat b
        LEFT JOIN holdfast.job j
               ON j.id = b.id AND j.attempt = b.attempt AND j.state = 'RUNNING'
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
    return Rows.list(
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
