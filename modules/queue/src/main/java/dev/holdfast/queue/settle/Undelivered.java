package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Delivery;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Failure;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Ends attempts that were pushed to a worker of which nothing was heard since. A claim writes one
 * time into {@code started_at} and {@code heartbeat_at}, and every callback a later one into the
 * latter: while both are equal, nobody was heard of.
 */
public final class Undelivered {
  // The condition is said of the locked row itself, so that it is checked again when a callback
  // came between our snapshot and our lock: whoever commits first wins, as everywhere.
  private static final String SQL =
      EndAttemptSql.ofKnown(
          """
          WITH held AS MATERIALIZED (
            SELECT j.id, j.attempt, j.worker_id, j.cancel_requested_at
              FROM holdfast.job j
             WHERE j.id = ? AND j.attempt = ? AND j.lease_expires_at IS NOT NULL
               AND j.heartbeat_at = j.started_at
               FOR NO KEY UPDATE
          ), cause AS (
            SELECT ?::jsonb AS failure, ?::boolean AS again, ?::bigint AS delay_ms
          ), ending AS MATERIALIZED (
            SELECT h.id, h.attempt, h.worker_id,
                   CASE WHEN c.again THEN 'SNOOZED' ELSE 'FAILED' END AS outcome, c.failure,
                   CASE WHEN NOT c.again THEN 'FAILED'
                        WHEN h.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                        ELSE 'PENDING' END AS next,
                   0 AS failed, 0 AS crashed,
                   CASE WHEN NOT c.again THEN c.failure END AS job_failure,
                   CASE WHEN c.again
                        THEN clock_timestamp() + c.delay_ms * interval '1 millisecond' END AS run_at,
                   'snoozed' AS event, NULL::jsonb AS data
              FROM held h CROSS JOIN cause c
          )
          """);

  private static final String DELIVERY =
      """
      SELECT CASE WHEN j.lease_expires_at IS NULL THEN 'ENDED'
                  WHEN j.heartbeat_at = j.started_at THEN 'UNHEARD'
                  ELSE 'HEARD' END AS delivery
        FROM holdfast.job j
       WHERE j.id = ? AND j.attempt = ?
      """;

  private Undelivered() {}

  /** Comes back later where the failure is retryable, and is FAILED where it is not. */
  public static boolean end(Connection connection, Lease lease, Failure failure, Duration again)
      throws SQLException {
    return !Rows.list(
            connection,
            Rows::lease,
            SQL,
            lease.job(),
            lease.attempt(),
            FailureJson.write(failure),
            failure.retryable(),
            again)
        .isEmpty();
  }

  public static Delivery delivery(Connection connection, Lease lease) throws SQLException {
    return Rows.list(
            connection,
            row -> Delivery.valueOf(row.getString("delivery")),
            DELIVERY,
            lease.job(),
            lease.attempt())
        .stream()
        .findFirst()
        .orElse(Delivery.ENDED);
  }
}
