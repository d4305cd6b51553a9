package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The end of an attempt that did not succeed: one shape for failing, cancelling, releasing,
 * snoozing and reaping.
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
      , moved AS (
        UPDATE holdfast.job j
           SET state = e.next,
               failures = j.failures + e.failed,
               crashes = j.crashes + e.crashed,
               failure = coalesce(e.job_failure, j.failure),
               run_at = coalesce(e.run_at, j.run_at),
               finished_at = CASE WHEN e.next IN ('FAILED', 'CANCELLED') THEN clock_timestamp() END,
               worker_id = NULL, heartbeat_at = NULL, lease_expires_at = NULL,
               events = j.events + 1,
               unique_states = holdfast.unique_after(j.unique_states, e.next)
          FROM ending e
         WHERE j.id = e.id AND j.attempt = e.attempt AND %s
        RETURNING j.id, j.attempt, j.state, j.queue, j.kind, j.events, j.started_at, j.started_event,
                  e.worker_id, e.outcome, e.failure, e.job_failure, e.event, e.data, e.run_at
      ), kept AS (
        INSERT INTO holdfast.attempt
               (job_id, attempt, outcome, worker_id, started_at, ended_at, started_event, failure)
        SELECT m.id, m.attempt, m.outcome, m.worker_id, m.started_at, clock_timestamp(),
               m.started_event, m.failure
          FROM moved m
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT m.id, m.events,
               CASE m.state WHEN 'FAILED' THEN 'failed'
                            WHEN 'CANCELLED' THEN 'cancelled'
                            WHEN 'RETRYING' THEN 'retry:scheduled'
                            ELSE m.event END,
               m.attempt, clock_timestamp(),
               coalesce(m.data, jsonb_strip_nulls(jsonb_build_object(
                 'code', coalesce(m.job_failure, m.failure) ->> 'code',
                 'message', coalesce(m.job_failure, m.failure) ->> 'message',
                 'cause', m.job_failure -> 'cause',
                 'runAt', CASE WHEN m.state IN ('RETRYING', 'PENDING') THEN m.run_at END)))
          FROM moved m
      )
      SELECT m.id, m.attempt, m.state, m.queue, m.kind, m.worker_id FROM moved m
      """;

  private static final String SETTLED_BEFORE =
      """
      SELECT a.job_id AS id, a.attempt
        FROM unnest(?::uuid[], ?::int4[]) AS l(id, attempt)
        JOIN holdfast.attempt a ON a.job_id = l.id AND a.attempt = l.attempt
       WHERE a.outcome = ?
      """;

  private EndAttemptSql() {}

  /** For rows found among all that run. */
  public static String ofSome(String ending) {
    return ending + WRITE.formatted("j.state = 'RUNNING'");
  }

  /**
   * For rows known by their ids: running in words that no index could be chosen by, see Succeed.
   */
  static String ofKnown(String ending) {
    return ending + WRITE.formatted("j.lease_expires_at IS NOT NULL");
  }

  /**
   * The leases whose attempts had ended this way already. A settle is tried again when its answer
   * was lost; it then finds no running row, but its own ending, and that is no lost lease. Only for
   * outcomes that nobody but the worker itself can bring about.
   */
  static Set<Lease> before(Connection connection, List<Lease> leases, AttemptOutcome outcome)
      throws SQLException {
    return new HashSet<>(
        Rows.list(
            connection,
            Rows::lease,
            SETTLED_BEFORE,
            Rows.ids(connection, leases),
            Rows.attempts(connection, leases),
            outcome.name()));
  }
}
