package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimableSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why a claim found no job: run only then, so that it costs a busy queue nothing.
 *
 * <p>Every search of the table job is for the first row in the order of an index: see {@link
 * ClaimableSql}.
 *
 * @param hasRules see {@link ClaimableSql#hasRules}
 * @param retryDue a job in RETRYING has waited out its backoff
 * @param wakeDue the wait of a job is over by itself
 * @param hasWaiting a job waits for others, which may have ended meanwhile
 * @param nextDue how long until the next delayed, retrying or waiting job is due, or a queue with a
 *     rate has its next token; of more than a thousand jobs with concurrency keys not all are
 *     asked, and polling finds the rest
 */
record IdleQueueProbe(
    boolean paused,
    boolean hasRules,
    boolean retryDue,
    boolean wakeDue,
    boolean hasWaiting,
    @Nullable Duration nextDue) {
  private static final Sql SQL =
      Sql.of(
          """
      SELECT ${paused} AS paused,
             ${rules} AS has_rules,
             (SELECT r.run_at FROM holdfast.job r
               WHERE r.queue = name.queue AND r.state = 'RETRYING'
               ORDER BY r.run_at
               LIMIT 1) <= statement_timestamp() AS retry_due,
             (SELECT k.wake_at FROM holdfast.job k
               WHERE k.queue = name.queue AND k.wake_at IS NOT NULL
               ORDER BY k.wake_at
               LIMIT 1) <= statement_timestamp() AS wake_due,
             (SELECT w.queue FROM holdfast.job w
               WHERE w.queue = name.queue AND w.state = 'WAITING'
                 AND (w.wait_sort IS NULL OR w.wait_sort = 'CHILDREN')
               ORDER BY w.queue
               LIMIT 1) IS NOT NULL AS has_waiting,
             extract(epoch FROM least(delayed.run_at, keyed.run_at, suspect.run_at,
                                      retrying.run_at, waking.wake_at, token.comes_at)
                                - statement_timestamp()) * 1000 AS next_ms
        FROM (SELECT :queue::text AS queue) AS name
        LEFT JOIN holdfast.queue q ON q.name = name.queue
        LEFT JOIN LATERAL (
          -- A millisecond more, for the fraction that is cut off on the way to the worker.
          SELECT statement_timestamp() + interval '1 millisecond' * (
                   1 + (1 - bucket.tokens) * q.rate_period_ms / q.rate_limit) AS comes_at
            FROM (SELECT coalesce(q.rate_tokens, q.rate_limit)
                         + extract(epoch FROM statement_timestamp() - q.rate_tokens_at)
                           * 1000.0 * q.rate_limit / q.rate_period_ms AS tokens) AS bucket
           WHERE bucket.tokens < 1) AS token ON true
        LEFT JOIN LATERAL (
          SELECT min(first.run_at) AS run_at
            FROM generate_series(0, 9) AS lane(priority)
           CROSS JOIN LATERAL (
             SELECT j.run_at
               FROM holdfast.job j
              WHERE j.queue = name.queue AND j.priority = lane.priority
                AND ${withoutRules}
                AND j.run_at > statement_timestamp()
              ORDER BY j.run_at
              LIMIT 1) AS first) AS delayed ON true
        LEFT JOIN LATERAL (
          -- Among the first of them only: an index by time would serve this and mislead claims.
          SELECT min(first.run_at) FILTER (WHERE first.run_at > statement_timestamp()) AS run_at
            FROM (SELECT k.run_at
                    FROM holdfast.job k
                   WHERE k.queue = name.queue AND ${keyed}
                   ORDER BY k.concurrency_key
                   LIMIT 1000) AS first) AS keyed ON true
        LEFT JOIN LATERAL (
          SELECT min(first.run_at) FILTER (WHERE first.run_at > statement_timestamp()) AS run_at
            FROM (SELECT s.run_at
                    FROM holdfast.job s
                   WHERE s.queue = name.queue AND ${suspect}
                   ORDER BY s.priority, s.run_at
                   LIMIT 1000) AS first) AS suspect ON true
        LEFT JOIN LATERAL (
          SELECT r.run_at
            FROM holdfast.job r
           WHERE r.queue = name.queue AND r.state = 'RETRYING'
             AND r.run_at > statement_timestamp()
           ORDER BY r.run_at
           LIMIT 1) AS retrying ON true
        LEFT JOIN LATERAL (
          SELECT k.wake_at
            FROM holdfast.job k
           WHERE k.queue = name.queue AND k.wake_at > statement_timestamp()
           ORDER BY k.wake_at
           LIMIT 1) AS waking ON true
      """,
          "paused",
          ClaimableSql.isPaused("name.queue"),
          "rules",
          ClaimableSql.hasRules("name.queue"),
          "withoutRules",
          ClaimableSql.isWithoutRules("j"),
          "keyed",
          ClaimableSql.isKeyed("k"),
          "suspect",
          ClaimableSql.isSuspect("s"));

  static IdleQueueProbe of(Connection connection, String queue) throws SQLException {
    return SQL.on(connection)
        .set("queue", queue)
        .only(
            row ->
                new IdleQueueProbe(
                    row.getBoolean("paused"),
                    row.getBoolean("has_rules"),
                    row.getBoolean("retry_due"),
                    row.getBoolean("wake_due"),
                    row.getBoolean("has_waiting"),
                    Rows.millisOrNull(row, "next_ms")));
  }
}
