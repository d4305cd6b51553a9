package dev.holdfast.queue.lease;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.queue.batch.MaterializeBatch;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.sql.ClaimDeliverySql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Extends all leases of a worker in one statement, and returns which were cancelled or lost. */
public final class Heartbeat {
  private static final String HELD =
      """
      beat AS MATERIALIZED (
        SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[]) AS b(id, attempt)
      ), held AS MATERIALIZED (
        SELECT job.*
          FROM (SELECT * FROM beat ORDER BY id) AS b
         CROSS JOIN LATERAL (
           SELECT j.ctid AS place, j.id, j.attempt, j.cancel_reason, %s AS first
             FROM holdfast.job j
            WHERE j.id = b.id AND j.attempt = b.attempt AND %s
            LIMIT 1
              FOR NO KEY UPDATE SKIP LOCKED) AS job
      )"""
          .formatted(ClaimDeliverySql.hasNoHeartbeat("j"), FenceSql.isRunning("j"));

  private static final String LEASE =
      """
      heartbeat_at = statement_timestamp(),
      lease_expires_at = statement_timestamp()
        + coalesce(:lease::float8 * interval '1 millisecond', j.lease_expires_at - j.heartbeat_at)
      """;

  // Only of pushed tasks: others are leased under the name of their worker.
  private static final String STARTED_BY =
      """
      , started_by = coalesce(j.started_by,
          (SELECT s.worker
             FROM unnest(:startedJobs::uuid[], :startedAttempts::int4[], :workers::text[])
                  AS s(id, attempt, worker)
            WHERE s.id = j.id AND s.attempt = j.attempt AND starts_with(j.worker_id, '${push}')
            LIMIT 1))
      """
          .replace("${push}", Dispatch.WORKER);

  private static final String COMMAND =
      "c.paused, c.takeover, c.action, c.step_id, c.requested_by, c.reason, c.requested_at";

  // What mostly happens: all are held. Rows are written by their place, as in Succeed, and only
  // what the worker does not expect is returned. What was not extended, for whatever reason, is
  // looked at again by the statement below.
  private static final String EXTEND =
      """
      WITH ${held}, extended AS (
        UPDATE holdfast.job j
           SET ${lease}
         WHERE j.ctid = ANY (ARRAY(SELECT h.place FROM held h))
        RETURNING j.id, j.attempt, j.cancel_reason
      )
      SELECT b.id, b.attempt, e.id IS NOT NULL AS held, false AS row_locked, false AS run_out,
             e.cancel_reason, coalesce(h.first, false) AS first, ${command}
        FROM beat b
        LEFT JOIN extended e ON e.id = b.id AND e.attempt = b.attempt
        LEFT JOIN held h ON h.id = e.id AND h.attempt = e.attempt
        LEFT JOIN holdfast.job_command c ON c.job_id = b.id
       WHERE e.id IS NULL OR e.cancel_reason IS NOT NULL OR c.job_id IS NOT NULL
      """;

  // Not "and the lease has not run out": after an outage a lease that was not taken is extended.
  // SKIP LOCKED, because a handler may hold its own row locked for long, by settling in its
  // transaction; the heartbeat of all other jobs must not wait for it, and nor can the reaper
  // take a locked row. Whether such a lease is still held is read, not locked, in the last select.
  // Where it has run out, a reaper may hold the row, and then the answer is not known
  // before that has ended: see askedAgain.
  // Each row is looked up by its id, never joined as a whole, as in Succeed; and written by its id,
  // because one that was changed between the snapshot and the lock is at another place by now.
  private static final String EXTEND_BY_ID =
      """
      WITH ${held}, extended AS (
        UPDATE holdfast.job j
           SET ${lease}
          FROM held h
         WHERE j.id = h.id AND ${running}
      )
      SELECT b.id, b.attempt, h.id IS NOT NULL OR locked.id IS NOT NULL AS held,
             locked.id IS NOT NULL AS row_locked,
             coalesce(locked.run_out, false) AS run_out,
             coalesce(h.cancel_reason, locked.cancel_reason) AS cancel_reason,
             coalesce(h.first, false) AS first, ${command}
        FROM beat b
        LEFT JOIN holdfast.job_command c ON c.job_id = b.id
        LEFT JOIN held h ON h.id = b.id AND h.attempt = b.attempt
        LEFT JOIN LATERAL (
          SELECT j.id, j.cancel_reason, j.lease_expires_at < statement_timestamp() AS run_out
            FROM holdfast.job j
           WHERE h.id IS NULL AND j.id = b.id AND j.attempt = b.attempt
             AND ${running}) AS locked ON true
      """;

  /**
   * @param all expects that all are held
   */
  private record Statements(Sql all, Sql byId) {
    static Statements of(String assignments) {
      return new Statements(
          Sql.of(EXTEND, "held", HELD, "lease", assignments, "command", COMMAND),
          Sql.of(
              EXTEND_BY_ID,
              "held",
              HELD,
              "running",
              FenceSql.isRunning("j"),
              "lease",
              assignments,
              "command",
              COMMAND));
    }
  }

  private static final Statements PLAIN = Statements.of(LEASE);
  private static final Statements STARTING = Statements.of(LEASE + STARTED_BY);

  // Two queries, each with its own index; either finds few jobs.
  private static final Sql COMMANDS =
      Sql.of(
          """
      SELECT j.id, j.attempt, j.cancel_reason, ${command}
        FROM holdfast.job j LEFT JOIN holdfast.job_command c ON c.job_id = j.id
       WHERE j.worker_id = :worker AND j.state = 'RUNNING' AND j.cancel_requested_at IS NOT NULL
      UNION ALL
      SELECT j.id, j.attempt, NULL, ${command}
        FROM holdfast.job_command c JOIN holdfast.job j ON j.id = c.job_id
       WHERE j.worker_id = :worker AND j.state = 'RUNNING' AND j.cancel_requested_at IS NULL
      """,
          "command",
          COMMAND);

  private static final Sql LOCK =
      Sql.of(
          """
          SELECT id FROM holdfast.job WHERE id = ANY (:jobs::uuid[]) ORDER BY id FOR NO KEY UPDATE
          """);

  /**
   * A reaper commits its page sooner than that, and heartbeats of other jobs can wait for so long.
   */
  private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(1);

  /**
   * How leases are extended.
   *
   * @param lease how long they last from now on; null for as long as each was given for
   * @param startedBy the workers that begin attempts with it
   */
  private record Extension(@Nullable Duration lease, Map<Lease, String> startedBy) {
    Sql.Call call(Connection connection, Function<Statements, Sql> of, List<Lease> leases)
        throws SQLException {
      Statements statements = startedBy.isEmpty() ? PLAIN : STARTING;
      Sql.Call call = of.apply(statements).on(connection).leases(leases).set("lease", lease);
      if (startedBy.isEmpty()) {
        return call;
      }
      List<Lease> started = List.copyOf(startedBy.keySet());
      return call.set("startedJobs", Rows.ids(connection, started))
          .set("startedAttempts", Rows.attempts(connection, started))
          .array("workers", "text", started, startedBy::get);
    }
  }

  private record Beat(HeartbeatResult result, boolean runOut) {
    static Beat read(ResultSet row) throws SQLException {
      return new Beat(
          new HeartbeatResult(
              Rows.lease(row),
              row.getBoolean("held") ? Ack.ACCEPTED : Ack.LEASE_LOST,
              row.getString("cancel_reason"),
              Commands.read(row),
              row.getBoolean("row_locked"),
              row.getBoolean("first")),
          row.getBoolean("run_out"));
    }

    HeartbeatResult rowLocked() {
      return new HeartbeatResult(
          result.lease(),
          Ack.ACCEPTED,
          result.cancelReason(),
          result.pendingCommand(),
          true,
          false);
    }
  }

  private Heartbeat() {}

  /**
   * @param lease how long the leases last from now on; null for as long as each was given for
   */
  public static List<HeartbeatResult> of(
      Connection connection, List<Lease> leases, @Nullable Duration lease) throws SQLException {
    return of(connection, leases, lease, LOCK_TIMEOUT);
  }

  /**
   * @param lockTimeout how long to wait for a row that a reaper may hold
   */
  public static List<HeartbeatResult> of(
      Connection connection, List<Lease> leases, @Nullable Duration lease, Duration lockTimeout)
      throws SQLException {
    return of(connection, leases, new Extension(lease, Map.of()), lockTimeout);
  }

  /**
   * Extends each lease by the time for which it was given.
   *
   * @param startedBy the workers that begin attempts with it, by their own names
   */
  public static List<HeartbeatResult> of(
      Connection connection, List<Lease> leases, Map<Lease, String> startedBy) throws SQLException {
    return of(connection, leases, new Extension(null, startedBy), LOCK_TIMEOUT);
  }

  private static List<HeartbeatResult> of(
      Connection connection, List<Lease> leases, Extension extension, Duration lockTimeout)
      throws SQLException {
    Map<Lease, HeartbeatResult> noted =
        extension.call(connection, Statements::all, leases).listByKey(Beat::read).stream()
            .map(Beat::result)
            .collect(Collectors.toMap(HeartbeatResult::lease, result -> result, (a, b) -> a));
    List<Lease> unextended =
        noted.values().stream()
            .filter(result -> result.ack() == Ack.LEASE_LOST)
            .map(HeartbeatResult::lease)
            .toList();
    if (!unextended.isEmpty()) {
      noted.putAll(byId(connection, unextended, extension, lockTimeout));
    }
    return leases.stream()
        .map(each -> noted.getOrDefault(each, new HeartbeatResult(each, Ack.ACCEPTED, null)))
        .toList();
  }

  /**
   * A job that was claimed in a batch is materialized at its first heartbeat. One whose row is
   * locked stays in the batch, and counts as held; where its lease has run out, the row is waited
   * for like others.
   */
  private static Map<Lease, HeartbeatResult> byId(
      Connection connection, List<Lease> leases, Extension extension, Duration lockTimeout)
      throws SQLException {
    Map<Lease, MaterializeBatch.Found> locked =
        MaterializeBatch.unlocked(connection, leases).stream()
            .filter(found -> !found.materialized())
            .collect(Collectors.toMap(MaterializeBatch.Found::lease, found -> found, (a, b) -> a));
    Map<Lease, HeartbeatResult> results = new HashMap<>();
    List<Lease> ranOut = new ArrayList<>();
    for (Beat beat : beat(connection, leases, extension)) {
      HeartbeatResult result = beat.result();
      MaterializeBatch.Found inBatch =
          result.ack() == Ack.LEASE_LOST ? locked.get(result.lease()) : null;
      results.put(result.lease(), inBatch == null ? result : beat.rowLocked());
      if (inBatch == null ? beat.runOut() : inBatch.runOut()) {
        ranOut.add(result.lease());
      }
    }
    if (!ranOut.isEmpty()) {
      results.putAll(askedAgain(connection, ranOut, extension, lockTimeout));
    }
    return results;
  }

  /**
   * Waits a moment for the transactions that have locked these rows, and runs the statement again:
   * by then a reaper has ended the leases or has not, and the second statement sees which. Has no
   * result for rows that stay locked: then the handler's own transaction has locked them, and no
   * reaper.
   */
  private static Map<Lease, HeartbeatResult> askedAgain(
      Connection connection, List<Lease> ranOut, Extension extension, Duration lockTimeout)
      throws SQLException {
    try {
      return Database.inTransaction(
          connection,
          "SET LOCAL lock_timeout = " + lockTimeout.toMillis(),
          in -> {
            LOCK.on(in).set("jobs", Rows.ids(in, ranOut)).list(row -> true);
            MaterializeBatch.leases(in, ranOut);
            return beat(in, ranOut, extension).stream()
                .map(Beat::result)
                .collect(Collectors.toMap(HeartbeatResult::lease, result -> result));
          });
    } catch (SQLException e) {
      if (SqlErrors.isLockNotFree(e)) {
        return Map.of();
      }
      throw e;
    }
  }

  private static List<Beat> beat(Connection connection, List<Lease> leases, Extension extension)
      throws SQLException {
    return extension.call(connection, Statements::byId, leases).listByKey(Beat::read);
  }

  /** Only jobs with a cancellation or a command pending: cheap enough for twice a second. */
  public static List<HeartbeatResult> commands(Connection connection, String worker)
      throws SQLException {
    return COMMANDS
        .on(connection)
        .set("worker", worker)
        .list(
            row ->
                new HeartbeatResult(
                    Rows.lease(row),
                    Ack.ACCEPTED,
                    row.getString("cancel_reason"),
                    Commands.read(row)));
  }
}
