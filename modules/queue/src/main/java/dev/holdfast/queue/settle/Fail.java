package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.queue.jdbc.FailureJson;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Ends attempts that failed: retried while the budget lasts, else FAILED with the cause kept. */
public final class Fail {
  /**
   * Turns failed rows (id, attempt, failure, retryable, delay_ms) joined to their locked jobs into
   * the {@code ending} CTE. A job that was asked to cancel never goes back to the queue.
   */
  public static final String ENDING_OF_FAILED =
      """
      , ending AS MATERIALIZED (
        SELECT h.id, h.attempt, h.worker_id, 'FAILED' AS outcome, h.failed_with AS failure,
               CASE WHEN NOT h.retryable OR budget.is_used_up THEN 'FAILED'
                    WHEN h.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                    ELSE 'RETRYING' END AS next,
               CASE WHEN h.retryable THEN 1 ELSE 0 END AS failed,
               0 AS crashed,
               CASE WHEN budget.is_used_up THEN
                 h.failed_with || jsonb_build_object(
                   'code', 'RETRIES_EXHAUSTED',
                   'message', format('%s of %s attempts failed, the last with %s: %s',
                                     h.failures + 1, h.max_attempts,
                                     h.failed_with ->> 'code', h.failed_with ->> 'message'),
                   'retryable', false,
                   'cause', h.failed_with - 'stackTrace')
                 ELSE h.failed_with END AS job_failure,
               CASE WHEN h.retryable AND h.cancel_requested_at IS NULL AND NOT budget.is_used_up
                    THEN clock_timestamp() + h.delay_ms * interval '1 millisecond' END AS run_at,
               NULL::text AS event, NULL::jsonb AS data
          FROM held h
         CROSS JOIN LATERAL (
           SELECT h.retryable AND h.cancel_requested_at IS NULL
                  AND h.failures + 1 >= h.max_attempts AS is_used_up) AS budget
      )
      """;

  private static final Sql SQL =
      EndAttemptSql.ofKnown(
          Sql.fragment(
              """
          WITH failed AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :failures::text[],
                                 :retryable::bool[], :delays::int8[])
              AS f(id, attempt, failure, retryable, delay_ms)
          ), held AS MATERIALIZED (
            SELECT j.id, j.attempt, j.worker_id, j.failures, j.max_attempts, j.cancel_requested_at,
                   f.failure::jsonb AS failed_with, f.retryable, f.delay_ms
              FROM holdfast.job j JOIN failed f ON f.id = j.id AND f.attempt = j.attempt
             WHERE ${running}
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          )
          """
                  + ENDING_OF_FAILED,
              "running",
              FenceSql.isRunning("j")));

  // Expire also ends attempts as FAILED; the failure says which of them it was.
  private static final Sql FAILED_BEFORE =
      Sql.of(
          """
      SELECT a.job_id AS id, a.attempt
        FROM unnest(:jobs::uuid[], :attempts::int4[], :failures::text[]) AS f(id, attempt, failure)
        JOIN holdfast.attempt a ON a.job_id = f.id AND a.attempt = f.attempt
       WHERE a.outcome = 'FAILED' AND a.failure = f.failure::jsonb
      """);

  private Fail() {}

  public static Set<Lease> all(Connection connection, Backoff backoff, List<Settlement.Fail> failed)
      throws SQLException {
    List<Settlement.Fail> settlements = backoff.decided(connection, failed);
    List<Lease> leases = settlements.stream().map(Settlement.Fail::lease).toList();
    Array failures =
        Rows.array(connection, "text", settlements, s -> FailureJson.write(s.failure()));
    Set<Lease> settled =
        new HashSet<>(
            SQL.on(connection)
                .leases(leases)
                .set("failures", failures)
                .array("retryable", "bool", settlements, s -> s.failure().retryable())
                .array("delays", "int8", settlements, Settlement.Fail::retryAfter)
                .listByKey(Rows::lease));
    if (settled.size() < leases.size()) {
      settled.addAll(
          FAILED_BEFORE.on(connection).leases(leases).set("failures", failures).list(Rows::lease));
    }
    return settled;
  }
}
