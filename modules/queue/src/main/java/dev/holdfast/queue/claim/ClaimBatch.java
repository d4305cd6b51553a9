package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.sql.BatchSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Claims many jobs of a backlog and writes one row, {@code holdfast.claim}; the rows of the jobs
 * are written once, when they are settled. See {@link BatchSql} for how other claims know.
 */
final class ClaimBatch {
  // Nothing but the claim is written, and its jobs are not even locked: a verb that changes a
  // PENDING job keeps batch claims out first. It must not wait for a row while it has the exclusive
  // lock of the queue, so jobs that cannot be in a batch are taken row by row only if they are not
  // locked: jobs that were attempted before, that hold a unique key, or that have a deadline. The
  // answer is short, so that a worker that stopped reading cannot keep the lock; see FETCH.
  private static final Sql CLAIM =
      Sql.of(
          """
          ${lock}
          WITH picked AS MATERIALIZED (
            ${picked}
          ), rows_to_take AS MATERIALIZED (
            SELECT j.ctid AS place
              FROM holdfast.job j
             WHERE j.ctid = ANY (ARRAY(SELECT p.place FROM picked p WHERE NOT p.in_batch))
               FOR NO KEY UPDATE SKIP LOCKED
          ), taken AS (
            UPDATE holdfast.job j
               SET ${set}
             WHERE j.ctid = ANY (ARRAY(SELECT r.place FROM rows_to_take r))
            RETURNING j.ctid AS place, j.id, j.attempt
          ), claimed AS (
            INSERT INTO holdfast.claim
              (queue, worker_id, started_at, lease_expires_at, cancel_grace_ms, job_ids)
            SELECT :queue, :worker, statement_timestamp(), ${expires}, :cancelGrace,
                   array_agg(p.id)
              FROM picked p
             WHERE p.in_batch
            HAVING count(*) > 0
            RETURNING id
          )
          SELECT c.id AS claim, p.place::text AS place, p.id, 1 AS attempt
            FROM claimed c CROSS JOIN picked p
           WHERE p.in_batch
          UNION ALL
          SELECT NULL, t.place::text, t.id, t.attempt FROM taken t
          """,
          "lock",
          BatchSql.lockForBatch(),
          "picked",
          PickSql.of(
              "j.ctid AS place, j.id,"
                  + " j.attempt = 0 AND j.unique_states = 0 AND j.deadline IS NULL AS in_batch",
              ""),
          "set",
          TakeSql.SET,
          "expires",
          TakeSql.EXPIRES);

  // By their places in the table, where the claim has just seen them.
  private static final TakeSql FETCH =
      TakeSql.reads("SELECT ${columns} FROM holdfast.job j WHERE j.ctid = ANY (:places::tid[])");

  // A row that was materialized meanwhile has another place.
  private static final TakeSql FETCH_MOVED =
      TakeSql.reads("SELECT ${columns} FROM holdfast.job j WHERE j.id = ANY (:jobs::uuid[])");

  private record Picked(@Nullable Long claim, String place, Lease lease) {
    static Picked read(ResultSet row) throws SQLException {
      long claim = row.getLong("claim");
      return new Picked(row.wasNull() ? null : claim, row.getString("place"), Rows.lease(row));
    }
  }

  private final Database database;
  private final BatchClaims batches;
  private final UnreadableJobs unreadable;

  ClaimBatch(Database database, BatchClaims batches, UnreadableJobs unreadable) {
    this.database = database;
    this.batches = batches;
    this.unreadable = unreadable;
  }

  /** Empty when other claims keep the queue busy. */
  Optional<Taken> take(ClaimRequest request, ClaimCursor cursor, double[] from) {
    long start = cursor.now();
    List<Picked> picked;
    try {
      picked = claim(request, from);
    } catch (DatabaseException e) {
      if (e.getCause() instanceof SQLException cause && SqlErrors.isLockNotFree(cause)) {
        return Optional.empty();
      }
      throw e;
    }
    List<ClaimedRow> rows;
    boolean readable = true;
    try {
      rows = fetch(picked, true);
    } catch (DatabaseException e) {
      if (!UnreadableJobs.mayHelp(e)) {
        throw e;
      }
      rows = fetch(picked, false);
      readable = false;
    }
    cursor.claimed(from, rows, request.most(), cursor.now() - start);
    Taken taken = Taken.of(rows);
    // A payload that the server cannot output must not keep the others from being run.
    return Optional.of(
        readable ? taken : taken.with(unreadable.all(taken.jobs(), request.lease())));
  }

  private List<Picked> claim(ClaimRequest request, double[] from) {
    List<Picked> picked =
        database.runOnce(
            "claim",
            connection ->
                TakeSql.bind(CLAIM.on(connection), request)
                    .set("most", request.most())
                    .set("from", ClaimCursor.array(connection, from))
                    .listAfterLock(Picked::read));
    Map<JobId, String> inBatch = new HashMap<>();
    Long claim = null;
    for (Picked each : picked) {
      if (each.claim() != null) {
        claim = each.claim();
        inBatch.put(each.lease().job(), each.place());
      }
    }
    if (claim != null) {
      batches.claimed(claim, inBatch);
    }
    return picked;
  }

  private List<ClaimedRow> fetch(List<Picked> picked, boolean payloads) {
    if (picked.isEmpty()) {
      return List.of();
    }
    return database.run(
        "claim",
        connection -> {
          Map<JobId, Lease> leases = new HashMap<>();
          picked.forEach(each -> leases.put(each.lease().job(), each.lease()));
          List<ClaimedRow> taken = new ArrayList<>();
          FETCH
              .reading(payloads)
              .on(connection)
              .array("places", "text", picked, Picked::place)
              .list(row -> ofThese(row, leases))
              .forEach(found -> found.ifPresent(taken::add));
          if (!leases.isEmpty()) {
            FETCH_MOVED
                .reading(payloads)
                .on(connection)
                .array("jobs", "uuid", List.copyOf(leases.keySet()), job -> job)
                .listByKey(row -> ofThese(row, leases))
                .forEach(found -> found.ifPresent(taken::add));
          }
          return taken;
        });
  }

  /** Empty for another job, whose row came to the place of one that has moved. */
  private static Optional<ClaimedRow> ofThese(ResultSet row, Map<JobId, Lease> leases)
      throws SQLException {
    Lease lease = leases.remove(Rows.id(row, "id"));
    return lease == null ? Optional.empty() : Optional.of(ClaimedRow.read(row, lease));
  }
}
