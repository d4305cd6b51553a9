package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.ops.Dispatch.Delivery;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimDeliverySql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Ends attempts that were pushed to a worker which has sent no heartbeat. */
public final class Undelivered {
  // The condition names the locked row itself, so that PostgreSQL checks it again when a callback
  // came between the snapshot and the lock: whichever commits first wins.
  private static final Sql SQL =
      EndAttemptSql.ofKnown(
          Sql.fragment(
              """
              WITH held AS MATERIALIZED (
                SELECT j.id, j.attempt, j.worker_id, j.cancel_requested_at
                  FROM holdfast.job j
                 WHERE ${held} AND ${unconfirmed}
                   FOR NO KEY UPDATE
              ), cause AS (
                SELECT :failure::jsonb AS failure, :again::boolean AS again,
                       :delay::bigint AS delay_ms
              ), ending AS MATERIALIZED (
                SELECT h.id, h.attempt, h.worker_id,
                       CASE WHEN c.again THEN 'SNOOZED' ELSE 'FAILED' END AS outcome, c.failure,
                       CASE WHEN NOT c.again THEN 'FAILED'
                            WHEN h.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                            ELSE 'PENDING' END AS next,
                       0 AS failed, 0 AS crashed,
                       CASE WHEN NOT c.again THEN c.failure END AS job_failure,
                       CASE WHEN c.again
                            THEN clock_timestamp()
                              + nullif(c.delay_ms, 0) * interval '1 millisecond' END AS run_at,
                       'snoozed' AS event, NULL::jsonb AS data
                  FROM held h CROSS JOIN cause c
              )
              """,
              "held",
              FenceSql.isHeld("j"),
              "unconfirmed",
              ClaimDeliverySql.hasNoHeartbeat("j")));

  private static final Sql DELIVERY =
      Sql.of(
          """
          SELECT CASE WHEN j.lease_expires_at IS NULL THEN 'ENDED'
                      WHEN ${unconfirmed} THEN 'UNCONFIRMED'
                      ELSE 'CONFIRMED' END AS delivery
            FROM holdfast.job j
           WHERE j.id = :job AND j.attempt = :attempt
          """,
          "unconfirmed",
          ClaimDeliverySql.hasNoHeartbeat("j"));

  private Undelivered() {}

  /**
   * Snoozes the job if the failure is retryable, and fails it if not. Without a delay it keeps its
   * place in the queue.
   */
  public static boolean end(Connection connection, Lease lease, Failure failure, Duration again)
      throws SQLException {
    return SQL.on(connection)
        .lease(lease)
        .set("failure", FailureJson.write(failure))
        .set("again", failure.retryable())
        .set("delay", again)
        .found();
  }

  public static Delivery delivery(Connection connection, Lease lease) throws SQLException {
    return DELIVERY
        .on(connection)
        .lease(lease)
        .first(row -> Delivery.valueOf(row.getString("delivery")))
        .orElse(Delivery.ENDED);
  }
}
