package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.sql.Transition;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The end of an attempt that did not succeed: one shape for failing, cancelling, releasing,
 * snoozing, suspending and reaping.
 *
 * <p>Each verb brings a CTE named {@code ending}, which locks the rows it ends and says, per row,
 * what is to become of them; this writes the job, its attempt and the event in the same statement.
 */
public final class EndAttemptSql {
  /**
   * Columns of {@code ending}: id, attempt, worker_id, outcome, failure (of the attempt), next
   * (state), failed and crashed (what to add to the budgets), job_failure, run_at, event (when it
   * goes back to PENDING), data.
   */
  private static final String WRITE =
      """
      ${ending}, moved AS (
        UPDATE holdfast.job j
           SET ${set},
               failures = j.failures + e.failed,
               crashes = j.crashes + e.crashed,
               failure = coalesce(e.job_failure, j.failure),
               run_at = coalesce(e.run_at, j.run_at),
               finished_at = CASE WHEN ${terminal} THEN clock_timestamp() END,
               worker_id = NULL, heartbeat_at = NULL, lease_expires_at = NULL,
               event_count = j.event_count + 1${also}
          FROM ending e
         WHERE j.id = e.id AND j.attempt = e.attempt AND ${running}
        RETURNING j.id, j.attempt, j.state, j.queue, j.kind, j.event_count, j.started_at, j.started_event_number,
                  j.started_by, e.worker_id, e.outcome, e.failure, e.job_failure, e.event, e.data, e.run_at
      ), attempt_inserted AS (
        INSERT INTO holdfast.attempt
               (job_id, attempt, outcome, worker_id, started_by, started_at, ended_at,
                started_event_number, failure)
        SELECT m.id, m.attempt, m.outcome, m.worker_id, m.started_by, m.started_at, clock_timestamp(),
               m.started_event_number, m.failure
          FROM moved m
      ), event_inserted AS (
        ${event}
      )
      SELECT m.id, m.attempt, m.state, m.queue, m.kind, ${worker} AS worker_id FROM moved m
      """;

  private static final Transition ENDED =
      Transition.from(JobState.RUNNING)
          .to(
              JobState.PENDING,
              JobState.RETRYING,
              JobState.WAITING,
              JobState.FAILED,
              JobState.CANCELLED);

  private static final String EVENT =
      EventSql.append(
          "j.event_count",
          """
          CASE j.state WHEN 'FAILED' THEN 'failed'
                       WHEN 'CANCELLED' THEN 'cancelled'
                       WHEN 'RETRYING' THEN 'retry:scheduled'
                       ELSE j.event END
          """,
          """
          coalesce(j.data, jsonb_strip_nulls(jsonb_build_object(
            'code', coalesce(j.job_failure, j.failure) ->> 'code',
            'message', coalesce(j.job_failure, j.failure) ->> 'message',
            'cause', j.job_failure -> 'cause',
            'runAt', CASE WHEN j.state IN ('RETRYING', 'PENDING') THEN j.run_at END)))
          """,
          "moved j");

  private static final Sql SETTLED_BEFORE =
      Sql.of(
          """
          SELECT a.job_id AS id, a.attempt
            FROM unnest(:jobs::uuid[], :attempts::int4[]) AS l(id, attempt)
            JOIN holdfast.attempt a ON a.job_id = l.id AND a.attempt = l.attempt
           WHERE a.outcome = :outcome AND a.failure IS NULL
          """);

  private EndAttemptSql() {}

  /** For rows found among all that run. */
  public static Sql ofSome(String ending) {
    return sql(ending, ENDED.isFrom("j"), "");
  }

  /** For rows known by their ids. */
  static Sql ofKnown(String ending) {
    return ofKnown(ending, "");
  }

  /**
   * The same.
   *
   * @param also further assignments, each after a comma
   */
  public static Sql ofKnown(String ending, String also) {
    return sql(ending, FenceSql.isRunning("j"), also);
  }

  private static Sql sql(String ending, String running, String also) {
    return Sql.of(
        WRITE,
        "ending",
        ending,
        "set",
        ENDED.set("e.next"),
        "terminal",
        Transition.isIn("e.next", JobState.TERMINAL),
        "running",
        running,
        "also",
        also,
        "event",
        EVENT,
        "worker",
        WorkerSql.ofAttempt("m"));
  }

  /**
   * The leases whose attempts had ended this way already. A settle is tried again when its answer
   * was lost; it then finds no running row, but its own ending, and that is no lost lease. An
   * ending with a failure is not the worker's own: Reap and Undelivered release and snooze, too.
   */
  public static Set<Lease> before(Connection connection, List<Lease> leases, AttemptOutcome outcome)
      throws SQLException {
    return new HashSet<>(
        SETTLED_BEFORE
            .on(connection)
            .leases(leases)
            .set("outcome", outcome.name())
            .list(Rows::lease));
  }
}
