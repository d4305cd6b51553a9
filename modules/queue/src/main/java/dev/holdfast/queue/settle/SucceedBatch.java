package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Moves jobs of batch claims to SUCCEEDED: the one write of their rows, with what the claim knows.
 */
final class SucceedBatch {
  private static final Transition SUCCEEDED =
      Transition.from(JobState.RUNNING).to(JobState.SUCCEEDED);

  // Locked and written as in Succeed. The fence is the attempt here too: a job that was written out
  // has another one, whoever did it, and is settled there. Without the claim there is nothing to
  // write. A claim all of whose jobs were settled before is deleted in passing.
  private static final Sql SQL =
      Sql.of(
          """
          WITH input AS MATERIALIZED (
            SELECT :jobs::uuid[] AS ids, :claims::int8[] AS claims, :results::text[] AS results
          ), claim AS MATERIALIZED (
            SELECT c.id, c.worker_id, c.started_at
              FROM holdfast.claim c
             WHERE c.id = ANY (:live::int8[])
          ), held AS MATERIALIZED (
            SELECT job.place
              FROM (SELECT d.id
                      FROM input, unnest(input.ids, input.claims) AS d(id, claim)
                     WHERE d.claim IN (SELECT c.id FROM claim c)
                     ORDER BY d.id) AS done
             CROSS JOIN LATERAL (
               SELECT j.ctid AS place
                 FROM holdfast.job j
                WHERE j.id = done.id AND ${unwritten}
                LIMIT 1
                  FOR NO KEY UPDATE) AS job
          ), ended AS (
            DELETE FROM holdfast.claim c WHERE c.id = ANY (:ended::int8[])
          )
          UPDATE holdfast.job j
             SET ${set}, attempt = 1, finished_at = clock_timestamp(),
                 events = j.events + 2, started_event = j.events + 1,
                 (worker_id, started_at, result) = (
                   -- The ids are sorted, so the bucket an id falls into is its place among them.
                   SELECT c.worker_id, c.started_at, i.results[n.place]::jsonb
                     FROM input i
                    CROSS JOIN LATERAL width_bucket(j.id, i.ids) AS n(place)
                     JOIN claim c ON c.id = i.claims[n.place])
           WHERE j.ctid = ANY (ARRAY(SELECT h.place FROM held h))
          RETURNING j.id, j.attempt
          """,
          "unwritten",
          BatchSql.isUnwritten("j"),
          "set",
          SUCCEEDED.set());

  private SucceedBatch() {}

  /**
   * The leases that are settled now.
   *
   * @param settlements of jobs that were claimed in batches, as far as is known
   * @param ended claims to be deleted
   */
  static Set<Lease> all(
      Connection connection,
      BatchClaims batches,
      List<Settlement.Succeed> settlements,
      List<Long> ended)
      throws SQLException {
    List<Settlement.Succeed> sorted = settlements.stream().sorted(Succeed.ORDER).toList();
    List<Long> claims = sorted.stream().map(s -> batches.claimOf(s.lease())).toList();
    return new HashSet<>(
        SQL.on(connection)
            .array("jobs", "uuid", sorted, s -> s.lease().job())
            .array("claims", "int8", claims, claim -> claim)
            .array("live", "int8", claims.stream().distinct().toList(), claim -> claim)
            .array("results", "text", sorted, Settlement.Succeed::result)
            .array("ended", "int8", ended, claim -> claim)
            .listByKey(Rows::lease));
  }
}
