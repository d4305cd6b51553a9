package dev.holdfast.queue.lease;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.queue.batch.MaterializedJobs.Extending;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimDeliverySql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Extends all leases of a worker in one statement, and returns which were cancelled or lost. */
public final class Heartbeat implements Extending<List<HeartbeatResult>> {
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
  // before that has ended: see lock.
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
  public static final Duration LOCK_TIMEOUT = Duration.ofSeconds(1);

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

    /**
     * @param runOutInBatch of a job whose row is locked and only known to its batch; else null
     */
    Beat knowing(@Nullable Boolean runOutInBatch) {
      return runOutInBatch == null || result.ack() != Ack.LEASE_LOST
          ? this
          : new Beat(
              new HeartbeatResult(
                  result.lease(),
                  Ack.ACCEPTED,
                  result.cancelReason(),
                  result.pendingCommand(),
                  true,
                  false),
              runOutInBatch);
    }
  }

  private final List<Lease> leases;
  private final Extension extension;

  /** Those that {@link #EXTEND} answered for or did not extend: of others, nothing is known. */
  private final Map<Lease, HeartbeatResult> noted = new HashMap<>();

  private Heartbeat(List<Lease> leases, Extension extension) {
    this.leases = leases;
    this.extension = extension;
  }

  /**
   * @param lease how long the leases last from now on; null for as long as each was given for
   */
  public static Heartbeat of(List<Lease> leases, @Nullable Duration lease) {
    return new Heartbeat(leases, new Extension(lease, Map.of()));
  }

  /**
   * Extends each lease by the time for which it was given.
   *
   * @param startedBy the workers that begin attempts with it, by their own names
   */
  public static Heartbeat of(List<Lease> leases, Map<Lease, String> startedBy) {
    return new Heartbeat(leases, new Extension(null, startedBy));
  }

  @Override
  public List<Lease> first(Connection connection) throws SQLException {
    note(extension.call(connection, Statements::all, leases).listByKey(Beat::read));
    return noted.values().stream()
        .filter(result -> result.ack() == Ack.LEASE_LOST)
        .map(HeartbeatResult::lease)
        .toList();
  }

  /** A job that stays in its batch counts as held; see {@link #EXTEND_BY_ID} for locked rows. */
  @Override
  public List<Lease> again(
      Connection connection, List<Lease> unextended, Map<Lease, Boolean> inBatches)
      throws SQLException {
    List<Beat> beats =
        beat(connection, unextended).stream()
            .map(beat -> beat.knowing(inBatches.get(beat.result().lease())))
            .toList();
    note(beats);
    return beats.stream().filter(Beat::runOut).map(beat -> beat.result().lease()).toList();
  }

  /**
   * Waits a moment for the transactions that have locked these rows. By then a reaper has ended the
   * leases or has not, and {@link #last} sees which.
   */
  @Override
  public void lock(Connection connection, List<Lease> runOut) throws SQLException {
    LOCK.on(connection).set("jobs", Rows.ids(connection, runOut)).list(row -> true);
  }

  @Override
  public void last(Connection connection, List<Lease> runOut) throws SQLException {
    note(beat(connection, runOut));
  }

  @Override
  public List<HeartbeatResult> answer() {
    return leases.stream()
        .map(each -> noted.getOrDefault(each, new HeartbeatResult(each, Ack.ACCEPTED, null)))
        .toList();
  }

  private List<Beat> beat(Connection connection, List<Lease> some) throws SQLException {
    return extension.call(connection, Statements::byId, some).listByKey(Beat::read);
  }

  private void note(List<Beat> beats) {
    beats.forEach(beat -> noted.put(beat.result().lease(), beat.result()));
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
