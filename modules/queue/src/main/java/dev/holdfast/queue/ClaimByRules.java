package dev.holdfast.queue;

import dev.holdfast.model.LeasedJob;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims from a queue that has a concurrency limit, or jobs with concurrency keys.
 *
 * <p>Counting and claiming must be one step for all workers, or two of them see the same free
 * place. Claims of such a queue therefore take turns by an advisory lock, and count in a statement
 * of its own after they have it: the statement that waits for a lock still sees the past.
 */
final class ClaimByRules {
  private static final String TURN =
      "SELECT pg_advisory_xact_lock(hashtext('holdfast.claim'), hashtext(?))";

  // The keys are found by hopping from one to the next along the index, a bounded number each
  // time and going on where the last claim stopped, so that a key with a million jobs costs one
  // hop.
  private static final String SQL =
      """
      WITH RECURSIVE hop(key, n) AS (
        (SELECT j.concurrency_key, 1
           FROM holdfast.job j
          WHERE j.queue = ? AND j.state = 'PENDING' AND j.concurrency_key > ?
          ORDER BY j.concurrency_key LIMIT 1)
        UNION ALL
        SELECT (SELECT j.concurrency_key
                  FROM holdfast.job j
                 WHERE j.queue = ? AND j.state = 'PENDING' AND j.concurrency_key > hop.key
                 ORDER BY j.concurrency_key LIMIT 1), hop.n + 1
          FROM hop
         WHERE hop.key IS NOT NULL AND hop.n < ?
      ), room AS MATERIALIZED (
        SELECT least(?, (SELECT q.max_running - (SELECT count(*) FROM holdfast.job r
                                                  WHERE r.queue = q.name AND r.state = 'RUNNING')
                           FROM holdfast.queue q WHERE q.name = ? AND q.max_running IS NOT NULL)) AS places
      ), keyed AS MATERIALIZED (
        SELECT hop.key,
               (SELECT j.concurrency_limit FROM holdfast.job j
                 WHERE j.queue = ? AND j.state = 'PENDING' AND j.concurrency_key = hop.key
                 ORDER BY j.priority, j.run_at, j.id LIMIT 1)
               - (SELECT count(*) FROM holdfast.job r
                   WHERE r.queue = ? AND r.state = 'RUNNING' AND r.concurrency_key = hop.key) AS places
          FROM hop
         WHERE hop.key IS NOT NULL
      ), free AS MATERIALIZED (
        SELECT pick.*
          FROM generate_series(0, 9) AS lane(priority)
         CROSS JOIN LATERAL (
           SELECT j.ctid, j.priority, j.run_at, j.id
             FROM holdfast.job j
            WHERE j.queue = ? AND j.priority = lane.priority
              AND j.state = 'PENDING' AND j.concurrency_key IS NULL
              AND j.run_at <= statement_timestamp()
            ORDER BY j.run_at, j.id
            LIMIT ?
              FOR NO KEY UPDATE SKIP LOCKED) AS pick
         LIMIT greatest(0, (SELECT places FROM room))
      ), within_keys AS MATERIALIZED (
        SELECT pick.*
          FROM keyed
         CROSS JOIN LATERAL (
           SELECT j.ctid, j.priority, j.run_at, j.id
             FROM holdfast.job j
            WHERE j.queue = ? AND j.concurrency_key = keyed.key
              AND j.state = 'PENDING'
              AND j.run_at <= statement_timestamp()
            ORDER BY j.priority, j.run_at, j.id
            LIMIT greatest(0, least(keyed.places, (SELECT places FROM room)))
              FOR NO KEY UPDATE SKIP LOCKED) AS pick
      ), picked AS MATERIALIZED (
        SELECT both_kinds.ctid
          FROM (SELECT * FROM free UNION ALL SELECT * FROM within_keys) AS both_kinds
         ORDER BY both_kinds.priority, both_kinds.run_at, both_kinds.id
         LIMIT greatest(0, (SELECT places FROM room))
      )
      """
          + Claim.TAKE;

  private static final String LAST_HOP =
      """
      SELECT max(page.concurrency_key) AS key
        FROM (SELECT DISTINCT concurrency_key FROM holdfast.job
               WHERE queue = ? AND state = 'PENDING' AND concurrency_key > ?
               ORDER BY concurrency_key LIMIT ?) AS page
      """;

  private static final int KEYS_A_CLAIM = 200;

  private final Map<String, String> lastKey = new ConcurrentHashMap<>();
  private final int keysAClaim;

  ClaimByRules() {
    this(KEYS_A_CLAIM);
  }

  ClaimByRules(int keysAClaim) {
    this.keysAClaim = keysAClaim;
  }

  List<LeasedJob> take(Connection connection, String queue, int most, String worker, Duration lease)
      throws SQLException {
    Rows.list(connection, row -> "", TURN, queue);
    String from = lastKey.getOrDefault(queue, "");
    List<Claim.Taken> taken = take(connection, queue, from, most, worker, lease);
    if (taken.isEmpty() && !from.isEmpty()) {
      lastKey.remove(queue);
      taken = take(connection, queue, "", most, worker, lease);
    }
    return Claim.inOrder(taken);
  }

  private List<Claim.Taken> take(
      Connection connection, String queue, String from, int most, String worker, Duration lease)
      throws SQLException {
    List<String> last =
        Rows.list(
            connection,
            row -> row.getString("key") == null ? "" : row.getString("key"),
            LAST_HOP,
            queue,
            from,
            keysAClaim);
    List<Claim.Taken> taken =
        Rows.list(
            connection,
            Claim.Taken::read,
            SQL,
            queue,
            from,
            queue,
            keysAClaim,
            most,
            queue,
            queue,
            queue,
            queue,
            most,
            queue,
            worker,
            lease);
    lastKey.put(queue, last.getFirst());
    return taken;
  }
}
