package dev.holdfast.queue.claim;

import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets jobs go that have waited long enough for others: to PENDING once all have ended, or to
 * CANCELLED or FAILED as soon as one has failed them.
 *
 * <p>Nobody tells a waiting job that its dependency ended: that would cost every settle a look.
 * Instead whoever finds nothing to claim looks here, and so does every sweep.
 */
public final class Unblock {
  /** Of a job j: it need not wait any longer. */
  static final String READY =
      """
      (NOT EXISTS (
         SELECT FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.on_job_id
          WHERE d.job_id = j.id AND p.finished_at IS NULL)
       OR j.when_dependency_fails <> 'RUN' AND EXISTS (
         SELECT FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.on_job_id
          WHERE d.job_id = j.id AND p.state IN ('FAILED', 'CANCELLED')))
      """;

  private static final int BATCH = 1_000;
  private static final int BATCHES = 100;
  private static final String OF_ALL = sql("true");
  private static final String OF_ONE = sql("j.queue = ?");

  private static String sql(String which) {
    return """
        WITH ready AS MATERIALIZED (
          SELECT j.id, coalesce(j.when_dependency_fails, 'CANCEL') AS policy
            FROM holdfast.job j
           WHERE j.state = 'WAITING' AND
        """
        + which
        + " AND "
        + READY
        + """
           ORDER BY j.queue
           LIMIT ?
             FOR NO KEY UPDATE OF j SKIP LOCKED
        ), decided AS MATERIALIZED (
          SELECT r.id, failed.because,
                 CASE WHEN failed.because IS NULL OR r.policy = 'RUN' THEN 'PENDING'
                      WHEN r.policy = 'FAIL' THEN 'FAILED'
                      ELSE 'CANCELLED' END AS next
            FROM ready r
            LEFT JOIN LATERAL (
              SELECT format('job %s, which it depends on, ended %s', p.id, p.state) AS because
                FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.on_job_id
               WHERE d.job_id = r.id AND p.state IN ('FAILED', 'CANCELLED')
               LIMIT 1) AS failed ON true
        ), moved AS (
          UPDATE holdfast.job j
             SET state = d.next,
                 finished_at = CASE d.next WHEN 'PENDING' THEN NULL ELSE clock_timestamp() END,
                 events = j.events + CASE d.next WHEN 'PENDING' THEN 0 ELSE 1 END,
                 unique_states = holdfast.unique_after(j.unique_states, d.next),
                 failure = CASE d.next WHEN 'FAILED' THEN jsonb_build_object(
                     'category', 'USER_CODE', 'code', 'DEPENDENCY_FAILED',
                     'message', d.because, 'retryable', false) END
            FROM decided d
           WHERE j.id = d.id AND j.state = 'WAITING'
          RETURNING j.id, j.queue, j.state, j.events, d.because
        ), told AS (
          INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
          SELECT id, events, CASE state WHEN 'FAILED' THEN 'failed' ELSE 'cancelled' END, 0,
                 clock_timestamp(), jsonb_build_object('reason', because)
            FROM moved
           WHERE state <> 'PENDING'
        )
        SELECT queue FROM moved
        """;
  }

  private Unblock() {}

  /** The queue of each job that waits no longer. */
  public static List<String> ready(Database database, @Nullable String queue) {
    List<String> unblocked = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      List<String> now = database.run("unblock", connection -> ready(connection, queue));
      unblocked.addAll(now);
      // Not "fewer than a batch": one that was cancelled frees the next, link by link.
      if (now.isEmpty()) {
        break;
      }
    }
    return unblocked;
  }

  private static List<String> ready(Connection connection, @Nullable String queue)
      throws SQLException {
    return queue == null
        ? Rows.list(connection, row -> row.getString("queue"), OF_ALL, BATCH)
        : Rows.list(connection, row -> row.getString("queue"), OF_ONE, queue, BATCH);
  }
}
