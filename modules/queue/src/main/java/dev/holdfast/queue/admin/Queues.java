package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.model.ops.Pause;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.RateLimit;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Queues and their settings. A queue without settings has no row. */
public final class Queues {
  private static final Sql PAUSE =
      Sql.of(
          """
          INSERT INTO holdfast.queue AS q (name, paused_at, paused_by, pause_reason)
          VALUES (:queue, clock_timestamp(), :by, :reason)
          ON CONFLICT (name) DO UPDATE
             SET paused_at = excluded.paused_at, paused_by = excluded.paused_by,
                 pause_reason = excluded.pause_reason
           WHERE q.paused_at IS NULL
          """);

  private static final Sql RESUME =
      Sql.of(
          """
          UPDATE holdfast.queue SET paused_at = NULL, paused_by = NULL, pause_reason = NULL
           WHERE name = :queue AND paused_at IS NOT NULL
          """);

  private static final Sql PAUSE_ALL_WORKERS =
      Sql.of(
          """
          INSERT INTO holdfast.workers_pause (paused_at, paused_by, pause_reason)
          VALUES (clock_timestamp(), :by, :reason)
          ON CONFLICT DO NOTHING
          """);

  private static final Sql RESUME_ALL_WORKERS = Sql.of("DELETE FROM holdfast.workers_pause");

  private static final Sql WORKERS_PAUSE =
      Sql.of("SELECT paused_at, paused_by, pause_reason FROM holdfast.workers_pause");

  private static final Sql PAUSES =
      Sql.of(
          """
          SELECT name, paused_at, paused_by, pause_reason
            FROM holdfast.queue WHERE paused_at IS NOT NULL
          """);

  private static final Sql LIMIT =
      Sql.of(
          """
          INSERT INTO holdfast.queue (name, max_running) VALUES (:queue, :maxRunning)
          ON CONFLICT (name) DO UPDATE SET max_running = excluded.max_running
          """);

  // A new limit begins with a full bucket.
  private static final Sql RATE =
      Sql.of(
          """
          INSERT INTO holdfast.queue (name, rate_limit, rate_period_ms)
          VALUES (:queue, :starts, :period)
          ON CONFLICT (name) DO UPDATE
             SET rate_limit = excluded.rate_limit, rate_period_ms = excluded.rate_period_ms,
                 rate_tokens = NULL, rate_tokens_at = NULL
          """);

  // Each part has the condition of an index, so that finished jobs cost nothing here either.
  private static final String PARTS =
      """
      SELECT coalesce(q.name, j.queue) AS name, q.max_running, q.rate_limit, q.rate_period_ms,
             q.paused_at, (SELECT paused_at FROM holdfast.workers_pause) AS workers_paused_at,
             q.dispatch_url IS NOT NULL AS pushed, q.dispatch_error,
             q.dispatch_error_detail, q.dispatch_circuit_open, q.dispatch_error_since,
             coalesce(j.due, 0) AS due, coalesce(j.delayed, 0) AS delayed,
             coalesce(j.retrying, 0) AS retrying, coalesce(j.waiting, 0) AS waiting,
             coalesce(j.running, 0) AS running,
             extract(epoch FROM statement_timestamp() - j.oldest) * 1000 AS oldest_ms,
             extract(epoch FROM statement_timestamp() - j.oldest_free) * 1000 AS oldest_free_ms
        FROM holdfast.queue AS q
        FULL JOIN (
          SELECT queue, sum(due) AS due, sum(delayed) AS delayed, sum(retrying) AS retrying,
                 sum(waiting) AS waiting, sum(running) AS running, min(oldest) AS oldest,
                 min(oldest_free) AS oldest_free
            FROM (SELECT queue, count(*) FILTER (WHERE run_at <= statement_timestamp()) AS due,
                         count(*) FILTER (WHERE run_at > statement_timestamp()) AS delayed,
                         0 AS retrying, 0 AS waiting, 0 AS running,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()) AS oldest,
                         -- Not every worker may claim a job that has a version.
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp() AND version = 0)
                           AS oldest_free
                    FROM holdfast.job j WHERE ${withoutRules} AND ${tenant} GROUP BY queue
                  UNION ALL
                  SELECT queue, count(*) FILTER (WHERE run_at <= statement_timestamp()),
                         count(*) FILTER (WHERE run_at > statement_timestamp()), 0, 0, 0,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()), NULL
                    FROM holdfast.job j WHERE ${keyed} AND ${tenant} GROUP BY queue
                  UNION ALL
                  SELECT queue, count(*) FILTER (WHERE run_at <= statement_timestamp()),
                         count(*) FILTER (WHERE run_at > statement_timestamp()), 0, 0, 0,
                         min(run_at) FILTER (WHERE run_at <= statement_timestamp()), NULL
                    FROM holdfast.job j
                   WHERE ${suspect} AND j.concurrency_key IS NULL AND ${tenant} GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, count(*), 0, 0, NULL, NULL
                    FROM holdfast.job j WHERE state = 'RETRYING' AND ${tenant} GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, 0, count(*), 0, NULL, NULL
                    FROM holdfast.job j WHERE state = 'WAITING' AND ${tenant} GROUP BY queue
                  UNION ALL
                  SELECT queue, 0, 0, 0, 0, count(*), NULL, NULL
                    FROM holdfast.job j WHERE state = 'RUNNING' AND ${tenant} GROUP BY queue) AS part
           GROUP BY queue) AS j ON j.queue = q.name
       WHERE ${which}
       ORDER BY 1
      """;

  private static final Sql LIST =
      parts(
          """
          j.queue IS NOT NULL OR q.paused_at IS NOT NULL OR q.max_running IS NOT NULL
            OR q.rate_limit IS NOT NULL OR q.dispatch_url IS NOT NULL
          """);

  // A queue that only others use is not there for a tenant.
  private static final Sql LIST_OF_TENANT = parts("j.queue IS NOT NULL");

  private static Sql parts(String which) {
    return Sql.of(
        PARTS,
        "withoutRules",
        ClaimableSql.isWithoutRules("j"),
        "keyed",
        ClaimableSql.isKeyed("j"),
        "suspect",
        ClaimableSql.isSuspect("j"),
        "tenant",
        TenantSql.isOf("j"),
        "which",
        which);
  }

  // Counting stops where the answer is known: a million waiting jobs are just as much "too many".
  private static final Sql DEPTH =
      Sql.of(
          """
          SELECT count(*) AS depth
            FROM (SELECT
                    FROM unnest(:queues::text[]) AS name(queue)
                   CROSS JOIN LATERAL (
                     (SELECT j.run_at
                        FROM generate_series(0, 9) AS lane(priority)
                       CROSS JOIN LATERAL (
                         SELECT j.run_at
                           FROM holdfast.job j
                          WHERE j.queue = name.queue AND j.priority = lane.priority
                            AND ${withoutRules} AND ${tenant}
                            AND j.run_at <= statement_timestamp()
                          ORDER BY j.run_at
                          LIMIT :most) AS j)
                     UNION ALL
                     (SELECT j.run_at
                        FROM holdfast.job j
                       WHERE j.queue = name.queue AND ${keyed} AND ${tenant}
                         AND j.run_at <= statement_timestamp()
                       ORDER BY j.concurrency_key
                       LIMIT :most)
                     UNION ALL
                     (SELECT j.run_at
                        FROM holdfast.job j
                       WHERE j.queue = name.queue AND ${suspect} AND j.concurrency_key IS NULL
                         AND ${tenant} AND j.run_at <= statement_timestamp()
                       ORDER BY j.priority
                       LIMIT :most)) AS due
                   LIMIT :most) AS counted
          """,
          "withoutRules",
          ClaimableSql.isWithoutRules("j"),
          "keyed",
          ClaimableSql.isKeyed("j"),
          "suspect",
          ClaimableSql.isSuspect("j"),
          "tenant",
          TenantSql.isOf("j"));

  private static final Sql IS_KNOWN =
      Sql.of(
          """
          SELECT EXISTS (SELECT FROM holdfast.queue WHERE name = :queue)
              OR EXISTS (SELECT FROM holdfast.handled_kind WHERE queue = :queue)
              OR EXISTS (SELECT FROM holdfast.schedule WHERE queue = :queue)
              OR EXISTS (SELECT FROM holdfast.job j WHERE j.queue = :queue AND ${withoutRules})
              OR EXISTS (SELECT FROM holdfast.job j WHERE j.queue = :queue AND ${keyed})
              OR EXISTS (SELECT FROM holdfast.job j WHERE j.queue = :queue AND ${suspect})
              OR EXISTS (SELECT FROM holdfast.job WHERE queue = :queue AND state = 'RUNNING')
              OR EXISTS (SELECT FROM holdfast.job WHERE queue = :queue AND state = 'RETRYING')
              OR EXISTS (SELECT FROM holdfast.job WHERE queue = :queue AND state = 'WAITING')
              AS known
          """,
          "withoutRules",
          ClaimableSql.isWithoutRules("j"),
          "keyed",
          ClaimableSql.isKeyed("j"),
          "suspect",
          ClaimableSql.isSuspect("j"));

  private Queues() {}

  public static boolean isKnown(Connection connection, String queue) throws SQLException {
    return IS_KNOWN.on(connection).set("queue", queue).only(row -> row.getBoolean("known"));
  }

  public static boolean pause(Connection connection, String queue, Pause.Draft pause)
      throws SQLException {
    return PAUSE.on(connection).set("queue", queue).pause(pause).update() > 0;
  }

  public static boolean resume(Connection connection, String queue) throws SQLException {
    return RESUME.on(connection).set("queue", queue).update() > 0;
  }

  public static boolean pauseAllWorkers(Connection connection, Pause.Draft pause)
      throws SQLException {
    return PAUSE_ALL_WORKERS.on(connection).pause(pause).update() > 0;
  }

  public static boolean resumeAllWorkers(Connection connection) throws SQLException {
    return RESUME_ALL_WORKERS.on(connection).update() > 0;
  }

  /** Since when all workers are paused, and why. */
  public static Optional<Pause> workersPause(Connection connection) throws SQLException {
    return WORKERS_PAUSE.on(connection).first(Queues::paused);
  }

  /** Of the queues that are paused by themselves, by name. */
  public static Map<String, Pause> pauses(Connection connection) throws SQLException {
    Map<String, Pause> pauses = new HashMap<>();
    PAUSES.on(connection).list(row -> pauses.put(row.getString("name"), paused(row)));
    return pauses;
  }

  /** From the columns of this table and of others alike. */
  public static Pause paused(ResultSet row) throws SQLException {
    return new Pause(
        Rows.instant(row, "paused_at"), row.getString("paused_by"), row.getString("pause_reason"));
  }

  public static boolean limit(Connection connection, String queue, @Nullable Integer maxRunning)
      throws SQLException {
    return LIMIT.on(connection).set("queue", queue).set("maxRunning", maxRunning).update() > 0;
  }

  public static boolean rate(Connection connection, String queue, @Nullable RateLimit limit)
      throws SQLException {
    return RATE.on(connection)
            .set("queue", queue)
            .set("starts", limit == null ? null : (Integer) limit.starts())
            .set("period", limit == null ? null : limit.period())
            .update()
        > 0;
  }

  public static List<QueueStatus> list(Connection connection, Tenant tenant) throws SQLException {
    return (tenant.isAny() ? LIST : LIST_OF_TENANT)
        .on(connection)
        .tenant(tenant)
        .list(
            row ->
                new QueueStatus(
                    row.getString("name"),
                    row.getLong("due"),
                    row.getLong("delayed"),
                    row.getLong("retrying"),
                    row.getLong("waiting"),
                    row.getLong("running"),
                    Rows.intOrNull(row, "max_running"),
                    rateLimit(row),
                    Rows.instantOrNull(row, "paused_at"),
                    Rows.instantOrNull(row, "workers_paused_at"),
                    Rows.millisOrNull(row, "oldest_ms"),
                    Rows.millisOrNull(row, "oldest_free_ms"),
                    row.getBoolean("pushed") ? new QueueStatus.Push(dispatchError(row)) : null));
  }

  private static @Nullable RateLimit rateLimit(ResultSet row) throws SQLException {
    Integer starts = Rows.intOrNull(row, "rate_limit");
    Duration period = Rows.millisOrNull(row, "rate_period_ms");
    return starts == null || period == null ? null : new RateLimit(starts, period);
  }

  private static @Nullable DispatchError dispatchError(ResultSet row) throws SQLException {
    String kind = row.getString("dispatch_error");
    return kind == null
        ? null
        : new DispatchError(
            DispatchError.Kind.valueOf(kind),
            row.getString("dispatch_error_detail"),
            row.getBoolean("dispatch_circuit_open"),
            Rows.instant(row, "dispatch_error_since"));
  }

  public static long depth(Connection connection, List<String> queues, long most, Tenant tenant)
      throws SQLException {
    return DEPTH
        .on(connection)
        .array("queues", "text", queues, q -> q)
        .set("most", most)
        .tenant(tenant)
        .only(row -> row.getLong("depth"));
  }
}
