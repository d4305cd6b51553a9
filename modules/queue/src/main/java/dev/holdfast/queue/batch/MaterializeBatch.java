package dev.holdfast.queue.batch;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * Materializes a batch claim: writes the rows of its jobs as a claim row by row would have written
 * them. {@link MaterializedJobs} alone calls this. Run twice, it finds nothing the second time.
 */
final class MaterializeBatch {
  private static final Transition CLAIMED = Transition.from(JobState.PENDING).to(JobState.RUNNING);

  // A job that was settled or materialized by another connection between the snapshot and the lock
  // no longer matches. The claim is deleted once it has no job left that only it knows; one whose
  // row was locked, or was settled just now, stays in it, and the next run looks again.
  private static final String MATERIALIZE =
      """
      WITH named AS MATERIALIZED (
        SELECT c.id AS claim, c.worker_id, c.started_at, c.lease_expires_at,
               c.cancel_grace_ms, member.id
          FROM holdfast.claim c CROSS JOIN LATERAL unnest(c.job_ids) AS member(id)
         WHERE ${which}
      ), not_materialized AS MATERIALIZED (
        SELECT n.*
          FROM named n
         CROSS JOIN LATERAL (
           SELECT FROM holdfast.job j WHERE j.id = n.id AND ${notMaterialized} LIMIT 1) AS job
      ), held AS MATERIALIZED (
        SELECT u.*
          FROM (SELECT * FROM not_materialized ORDER BY id) AS u
         CROSS JOIN LATERAL (
           SELECT FROM holdfast.job j
            WHERE j.id = u.id AND ${notMaterialized}
            LIMIT 1
              FOR NO KEY UPDATE ${locked}) AS job
      ), materialized AS (
        UPDATE holdfast.job j
           SET ${set}, attempt = 1, worker_id = h.worker_id, started_at = h.started_at,
               heartbeat_at = h.started_at, lease_expires_at = h.lease_expires_at,
               cancel_grace_ms = h.cancel_grace_ms,
               event_count = j.event_count + 1, started_event_number = j.event_count + 1
          FROM held h
         WHERE j.id = h.id AND ${notMaterialized}
        RETURNING j.id
      ), whole AS MATERIALIZED (
        SELECT c.id
          FROM holdfast.claim c
         WHERE ${whole}
           AND c.id IN (SELECT n.claim FROM named n)
           AND c.id NOT IN (SELECT u.claim FROM not_materialized u
                             WHERE u.id NOT IN (SELECT w.id FROM materialized w))
           FOR UPDATE SKIP LOCKED
      ), ended AS (
        DELETE FROM holdfast.claim c USING whole WHERE c.id = whole.id
      )
      SELECT u.id, w.id IS NOT NULL AS materialized,
             u.lease_expires_at < statement_timestamp() AS run_out
        FROM not_materialized u LEFT JOIN materialized w ON w.id = u.id
      """;

  private static final String OF_JOBS =
      "member.id IN (SELECT asked.id FROM unnest(:jobs::uuid[]) AS asked(id))";

  private static final Sql SOME = sql(OF_JOBS, false, "");
  private static final Sql SOME_UNLOCKED = sql(OF_JOBS, false, "SKIP LOCKED");
  private static final Sql ALL = sql("true", true, "SKIP LOCKED");
  private static final Sql OF_QUEUE =
      sql("(c.queue = :queue OR c.worker_id = :worker)", true, "SKIP LOCKED");
  private static final Sql OF_WORKERS =
      sql("starts_with(c.worker_id, :prefix)", true, "SKIP LOCKED");

  // Most batches are settled sooner than that.
  private static final Sql OLD =
      sql(
          """
          (c.started_at < statement_timestamp() - interval '1 second'
           OR c.lease_expires_at < statement_timestamp())
          """,
          true,
          "SKIP LOCKED");

  private static final Sql KEEP_OUT =
      Sql.of(
          """
          SELECT ${keepOut} FROM unnest(:queues::text[]) AS q(name)
          """,
          "keepOut",
          BatchSql.keepBatchesOut("q.name"));

  private static final Sql ANY = Sql.of("SELECT c.id FROM holdfast.claim c LIMIT 1");

  private static Sql sql(String which, boolean whole, String locked) {
    return Sql.of(
        MATERIALIZE,
        "which",
        which,
        "notMaterialized",
        BatchSql.isNotMaterialized("j"),
        "locked",
        locked,
        "set",
        CLAIMED.set(),
        "whole",
        String.valueOf(whole));
  }

  /**
   * A job that is in a batch.
   *
   * @param materialized whether its row is written now; false where the row is locked
   * @param runOut whether its lease has run out
   */
  record Found(JobId job, boolean materialized, boolean runOut) {
    static Found read(ResultSet row) throws SQLException {
      return new Found(
          Rows.id(row, "id"), row.getBoolean("materialized"), row.getBoolean("run_out"));
    }

    Lease lease() {
      return new Lease(job, BatchClaims.ATTEMPT);
    }
  }

  private MaterializeBatch() {}

  /** Called before a verb that writes these. Waits for locked rows, as the verb would. */
  static void leases(Connection connection, Collection<Lease> leases) throws SQLException {
    found(SOME, connection, leases);
  }

  /**
   * Leaves out locked rows, for callers that must not wait for a handler's own transaction. The
   * answer has all that were in batches.
   */
  static List<Found> unlocked(Connection connection, Collection<Lease> leases) throws SQLException {
    return found(SOME_UNLOCKED, connection, leases);
  }

  private static List<Found> found(Sql sql, Connection connection, Collection<Lease> leases)
      throws SQLException {
    List<Lease> first =
        leases.stream().filter(lease -> lease.attempt() == BatchClaims.ATTEMPT).toList();
    return first.isEmpty() || isNone(connection)
        ? List.of()
        : sql.on(connection).array("jobs", "uuid", first, Lease::job).listByKey(Found::read);
  }

  /**
   * For a transaction that changes jobs which may be PENDING, and has locked their rows: no batch
   * claim takes them before it ends.
   *
   * @param queues those of the jobs
   */
  static void beforeChange(Connection connection, List<JobId> jobs, Set<String> queues)
      throws SQLException {
    if (jobs.isEmpty()) {
      return;
    }
    KEEP_OUT
        .on(connection)
        .array("queues", "text", queues.stream().sorted().toList(), name -> name)
        .list(row -> true);
    if (!isNone(connection)) {
      SOME.on(connection).array("jobs", "uuid", jobs, id -> id).listByKey(Found::read);
    }
  }

  /** Before these jobs are read. */
  static void beforeReading(Connection connection, List<JobId> jobs) throws SQLException {
    reading(connection, () -> SOME_UNLOCKED.on(connection).array("jobs", "uuid", jobs, id -> id));
  }

  /** Before jobs are listed or counted. */
  static void beforeReading(Connection connection) throws SQLException {
    reading(connection, () -> ALL.on(connection));
  }

  private interface Statement {
    Sql.Call call() throws SQLException;
  }

  /** On a server that allows no writes, jobs in batches are read as PENDING. */
  private static void reading(Connection connection, Statement statement) throws SQLException {
    try {
      if (!isNone(connection)) {
        statement.call().listByKey(Found::read);
      }
    } catch (SQLException e) {
      if (!SqlErrors.isReadOnly(e) || !connection.getAutoCommit()) {
        throw e;
      }
    }
  }

  /**
   * What a claim by rules counts: jobs of its queue, and all of its worker. It keeps batch claims
   * out before.
   */
  static void ofQueue(Connection connection, String queue, String worker) throws SQLException {
    OF_QUEUE.on(connection).set("queue", queue).set("worker", worker).listByKey(Found::read);
  }

  /** Batch claims of workers whose names begin with the prefix. */
  static void ofWorkers(Connection connection, String prefix) throws SQLException {
    if (!isNone(connection)) {
      OF_WORKERS.on(connection).set("prefix", prefix).listByKey(Found::read);
    }
  }

  /** Batch claims that are older than most become, before a sweep. */
  static void old(Connection connection) throws SQLException {
    if (!isNone(connection)) {
      OLD.on(connection).listByKey(Found::read);
    }
  }

  private static boolean isNone(Connection connection) throws SQLException {
    return !ANY.on(connection).found();
  }
}
