package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.DispatchTrouble;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Queues and their settings. A queue without settings has no row. */
public final class Queues {
  private static final String PAUSE =
      """
      INSERT INTO holdfast.queue (name, paused_at) VALUES (?, clock_timestamp())
      ON CONFLICT (name) DO UPDATE
         SET paused_at = coalesce(holdfast.queue.paused_at, excluded.paused_at)
      """;

  private static final String RESUME =
      "UPDATE holdfast.queue SET paused_at = NULL WHERE name = ? AND paused_at IS NOT NULL";

  private static final String LIMIT =
      """
      INSERT INTO holdfast.queue (name, max_running) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET max_running = excluded.max_running
      """;

  // A new limit begins with a full bucket.
  private static final String RATE =
      """
      INSERT INTO holdfast.queue (name, rate_limit, rate_span_ms) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE
         SET rate_limit = excluded.rate_limit, rate_span_ms = excluded.rate_span_ms,
             tokens = NULL, tokens_at = NULL
      """;

  /** Stands for all queues; no queue can have this name. */
  public static final String EVERY = "*";

  /** Whether a queue, named by an expression, is paused: by itself, or with all of them. */
  public static String isPaused(String queue) {
    return "EXISTS (SELECT FROM holdfast.queue p WHERE p.name IN (%s, '%s') AND p.paused_at IS NOT NULL)"
        .formatted(queue, EVERY);
  }

  private static final String PAUSED_SINCE =
      "SELECT paused_at FROM holdfast.queue WHERE name = ? AND paused_at IS NOT NULL";

  // Each part has the condition of an index, so that finished jobs cost nothing here either.
  private static final String PARTS =
      """
      SELECT coalesce(q.name, j.queue) AS name, q.max_running, q.rate_limit, q.rate_span_ms,
             q.paused_at, q.dispatch_url IS NOT NULL AS pushed, q.dispatch_trouble,
             q.dispatch_trouble_cause, q.dispatch_paused, q.dispatch_trouble_since,
             coalesce(j.due, 0) AS due, coalesce(j.delayed, 0) AS delayed,
             coalesce(j.retrying, 0) AS retrying, coalesce(j.waiting, 0) AS waiting,
             coalesce(j.running, 0) AS running,
             extract(epoch FROM statement_timestamp() - j.oldest) * 1000 AS oldest_ms,
             extract(epoch FROM statement_timestamp() - j.oldest_free) * 1000 AS oldest_free_ms
        FROM (SELECT * FROM holdfast.queue WHERE name <> '*') AS q
        FULL JOIN (
          SELECT queue, sum(due) AS due, sum(delayed) AS delayed, sum(retrying) AS retrying,
                 sum(waiting) AS waiting, sum(running) AS running, min(oldest) AS oldest,
                 min(oldest_free) AS oldest_free
            FROM (SELECT queue, count(*) FILTER (WHERE run_at <= statement_timestamp()) AS due,
                         count(*) FILTER (WHERE run_at > statement_timestamp()) AS delayed,
                         0 AS retrying, 0 AS waiting, 0 AS running,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()) AS oldest,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()) AS oldest_free
                    FROM holdfast.job
                   WHERE state = 'PENDING' AND concurrency_key IS NULL %1$s GROUP BY queue
                  UNION ALL
                  SELECT queue, count(*) FILTER (WHERE run_at <= statement_timestamp()),
                         count(*) FILTER (WHERE run_at > statement_timestamp()), 0, 0, 0,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()), NULL
                    FROM holdfast.job
                   WHERE state = 'PENDING' AND concurrency_key IS NOT NULL %1$s GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, count(*), 0, 0, NULL, NULL
                    FROM holdfast.job WHERE state = 'RETRYING' %1$s GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, 0, count(*), 0, NULL, NULL
                    FROM holdfast.job WHERE state = 'WAITING' %1$s GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, 0, 0, count(*), NULL, NULL
                    FROM holdfast.job WHERE state = 'RUNNING' %1$s GROUP BY queue) AS part
           GROUP BY queue) AS j ON j.queue = q.name
       WHERE %2$s
       ORDER BY 1
      """;

  private static final String LIST =
      PARTS.formatted(
          "",
          "j.queue IS NOT NULL OR q.paused_at IS NOT NULL OR q.max_running IS NOT NULL"
              + " OR q.rate_limit IS NOT NULL OR q.dispatch_url IS NOT NULL");

  // A queue that only others use is not there for a tenant.
  private static final String LIST_OF_TENANT =
      PARTS.formatted("AND tenant = ?", "j.queue IS NOT NULL");

  // Counting stops where the answer is known: a million waiting jobs are just as much "too many".
  private static final String DEPTH =
      """
      SELECT count(*) AS depth
        FROM (SELECT
                FROM unnest(?::text[]) AS name(queue)
               CROSS JOIN LATERAL (
                 (SELECT j.run_at
                    FROM generate_series(0, 9) AS lane(priority)
                   CROSS JOIN LATERAL (
                     SELECT j.run_at
                       FROM holdfast.job j
                      WHERE j.queue = name.queue AND j.priority = lane.priority
                        AND j.state = 'PENDING' AND j.concurrency_key IS NULL
                        AND j.run_at <= statement_timestamp()
                        AND (?::text IS NULL OR j.tenant = ?::text)
                      ORDER BY j.run_at
                      LIMIT ?) AS j)
                 UNION ALL
                 (SELECT k.run_at
                    FROM holdfast.job k
                   WHERE k.queue = name.queue
                     AND k.state = 'PENDING' AND k.concurrency_key IS NOT NULL
                     AND k.run_at <= statement_timestamp()
                     AND (?::text IS NULL OR k.tenant = ?::text)
                   ORDER BY k.concurrency_key
                   LIMIT ?)) AS due
               LIMIT ?) AS counted
      """;

  private Queues() {}

  public static boolean pause(Connection connection, String queue) throws SQLException {
    return Rows.update(connection, PAUSE, queue) > 0;
  }

  public static boolean resume(Connection connection, String queue) throws SQLException {
    return Rows.update(connection, RESUME, queue) > 0;
  }

  /** Since when every queue is paused. */
  public static Optional<Instant> allPausedSince(Connection connection) throws SQLException {
    return Rows.list(connection, row -> Rows.instant(row, "paused_at"), PAUSED_SINCE, EVERY)
        .stream()
        .findFirst();
  }

  public static boolean limit(Connection connection, String queue, @Nullable Integer maxRunning)
      throws SQLException {
    return Rows.update(connection, LIMIT, queue, maxRunning) > 0;
  }

  public static boolean rate(
      Connection connection, String queue, @Nullable Integer starts, @Nullable Duration span)
      throws SQLException {
    return Rows.update(connection, RATE, queue, starts, span) > 0;
  }

  public static List<QueueStatus> list(Connection connection, @Nullable String tenant)
      throws SQLException {
    return Rows.list(
        connection,
        row ->
            new QueueStatus(
                row.getString("name"),
                row.getLong("due"),
                row.getLong("delayed"),
                row.getLong("retrying"),
                row.getLong("waiting"),
                row.getLong("running"),
                Rows.intOrNull(row, "max_running"),
                Rows.intOrNull(row, "rate_limit"),
                Rows.millisOrNull(row, "rate_span_ms"),
                Rows.instantOrNull(row, "paused_at"),
                Rows.millisOrNull(row, "oldest_ms"),
                Rows.millisOrNull(row, "oldest_free_ms"),
                row.getBoolean("pushed"),
                trouble(row)),
        tenant == null ? LIST : LIST_OF_TENANT,
        tenant == null ? new Object[0] : new Object[] {tenant, tenant, tenant, tenant, tenant});
  }

  private static @Nullable DispatchTrouble trouble(ResultSet row) throws SQLException {
    String kind = row.getString("dispatch_trouble");
    return kind == null
        ? null
        : new DispatchTrouble(
            DispatchTrouble.Kind.valueOf(kind),
            row.getString("dispatch_trouble_cause"),
            row.getBoolean("dispatch_paused"),
            Rows.instant(row, "dispatch_trouble_since"));
  }

  public static long depth(
      Connection connection, List<String> queues, long most, @Nullable String tenant)
      throws SQLException {
    return Rows.list(
            connection,
            row -> row.getLong("depth"),
            DEPTH,
            Rows.array(connection, "text", queues, q -> q),
            tenant,
            tenant,
            most,
            tenant,
            tenant,
            most,
            most)
        .getFirst();
  }
}
