package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Moves jobs of a batch claim to SUCCEEDED: the one write of their rows, with what the claim knows.
 */
final class SucceedBatch {
  private static final Transition SUCCEEDED =
      Transition.from(JobState.RUNNING).to(JobState.SUCCEEDED);

  // The ids are sorted, so the bucket an id falls into is its place among them, if it is one.
  private static final String NUMBER = "width_bucket(j.id, (SELECT ids FROM input))";

  // The fence is the attempt here too: a job that was materialized has another one, and is settled
  // by Succeed. Without the claim there is nothing to write. A row that was not written since the
  // claim still has the ctid that the claim saw; if another job has that ctid now, its id is not
  // one of these. So no row is looked up or locked first, and rows are locked in the order of their
  // ctids: a cancel of several of them at this moment may be a deadlock, which is tried again.
  // Claims all of whose jobs were settled before are deleted in the same statement.
  private static final Sql SQL =
      Sql.of(
          """
          WITH input AS MATERIALIZED (
            SELECT :jobs::uuid[] AS ids, :results::text[] AS results
          ), claim AS MATERIALIZED (
            SELECT c.worker_id, c.started_at FROM holdfast.claim c WHERE c.id = :claim
          ), ended AS (
            DELETE FROM holdfast.claim c WHERE c.id = ANY (:ended::int8[])
          )
          UPDATE holdfast.job j
             SET ${set}, attempt = 1, finished_at = clock_timestamp(),
                 event_count = j.event_count + 2, started_event_number = j.event_count + 1,
                 worker_id = (SELECT worker_id FROM claim),
                 started_at = (SELECT started_at FROM claim),
                 result = (SELECT results FROM input)[${number}]::jsonb
           WHERE j.ctid = ANY (:places::tid[])
             AND (SELECT worker_id FROM claim) IS NOT NULL
             AND ${notMaterialized} AND (SELECT ids FROM input)[${number}] = j.id
          RETURNING j.id, j.attempt
          """,
          "number",
          NUMBER,
          "notMaterialized",
          BatchSql.isNotMaterialized("j"),
          "set",
          SUCCEEDED.set());

  /** A job that succeeded, and where its row was when it was claimed. */
  record Row(Settlement.Succeed settlement, String place) {
    Lease lease() {
      return settlement.lease();
    }
  }

  private static final Comparator<Row> ORDER = Comparator.comparing(row -> row.lease().job());

  private SucceedBatch() {}

  /**
   * The leases that are settled now.
   *
   * @param ended claims to be deleted
   */
  static Set<Lease> all(Connection connection, long claim, List<Row> rows, List<Long> ended)
      throws SQLException {
    List<Row> sorted = rows.stream().sorted(ORDER).toList();
    return new HashSet<>(
        SQL.on(connection)
            .set("claim", claim)
            .array("jobs", "uuid", sorted, row -> row.lease().job())
            .array("results", "text", sorted, row -> row.settlement().result())
            .array("places", "text", sorted, Row::place)
            .array("ended", "int8", ended, each -> each)
            .listByKey(Rows::lease));
  }
}
