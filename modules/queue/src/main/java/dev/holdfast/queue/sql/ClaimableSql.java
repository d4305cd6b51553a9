package dev.holdfast.queue.sql;

import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.queue.jdbc.Sql;

/**
 * Which jobs a claim may take, and which way it has to go.
 *
 * <p>A suspect is a job whose crashes have reached their limit while it ran beside others. It may
 * have crashed its worker, so it runs alone in the next one: the column {@code isolated}, set by
 * Reap.
 *
 * <p>The table job is never searched by EXISTS, which ignores the order: with statistics of a
 * busier hour the planner expects the first row that it meets to match and reads the whole table.
 * The first row in the order of an index is found by that index.
 */
public final class ClaimableSql {
  private ClaimableSql() {}

  /** Whether a queue, named by an expression, is paused: by itself, or with all workers. */
  public static String isPaused(String queue) {
    return Sql.fragment(
        """
        (EXISTS (SELECT FROM holdfast.workers_pause)
         OR EXISTS (SELECT FROM holdfast.queue p
                     WHERE p.name = ${queue} AND p.paused_at IS NOT NULL))
        """,
        "queue",
        queue);
  }

  /** Of a job: PENDING, without concurrency key and no suspect. The index is job_claim. */
  public static String isWithoutRules(String job) {
    return "%1$s.state = 'PENDING' AND %1$s.concurrency_key IS NULL AND NOT %1$s.isolated"
        .formatted(job);
  }

  /** Of a job: PENDING, and others with its key limit it. The index is job_claim_keyed. */
  public static String isKeyed(String job) {
    return "%1$s.state = 'PENDING' AND %1$s.concurrency_key IS NOT NULL".formatted(job);
  }

  /** Of a job: PENDING and a suspect. The index is job_claim_isolated. */
  public static String isSuspect(String job) {
    return "%1$s.state = 'PENDING' AND %1$s.isolated".formatted(job);
  }

  /**
   * That the worker of a claim, which binds its {@code :versions} by {@link #served}, has the
   * version of a job. By the columns of the row, which the claim reads in any case: jobs without a
   * version cost nothing more.
   */
  public static String isServed(String job) {
    return "(%1$s.version = 0 OR %1$s.version || ' ' || %1$s.kind = ANY (:versions::text[]))"
        .formatted(job);
  }

  /** What {@link #isServed} looks for. */
  public static String served(KindVersion version) {
    return version.version() + " " + version.kind();
  }

  /**
   * That claims of a queue take turns, see ClaimByRules: it has a limit or a rate, or a PENDING job
   * that is keyed or a suspect.
   *
   * @param queue an expression
   */
  public static String hasRules(String queue) {
    return Sql.fragment(
        """
        (EXISTS (SELECT FROM holdfast.queue q
                  WHERE q.name = ${queue}
                    AND (q.max_running IS NOT NULL OR q.rate_limit IS NOT NULL))
         OR (SELECT k.queue FROM holdfast.job k
              WHERE k.queue = ${queue} AND ${keyed}
              ORDER BY k.concurrency_key LIMIT 1) IS NOT NULL
         OR (SELECT s.queue FROM holdfast.job s
              WHERE s.queue = ${queue} AND ${suspect}
              ORDER BY s.priority LIMIT 1) IS NOT NULL)
        """,
        "queue",
        queue,
        "keyed",
        isKeyed("k"),
        "suspect",
        isSuspect("s"));
  }

  /** That a worker, {@code :worker}, runs a suspect, and is reserved for it until it has ended. */
  public static final String WORKER_IS_RESERVED =
      """
      (SELECT s.worker_id FROM holdfast.job s
        WHERE s.worker_id = :worker AND s.state = 'RUNNING' AND s.isolated
        ORDER BY s.worker_id LIMIT 1) IS NOT NULL
      """;
}
