package dev.holdfast.queue.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.sql.Transition;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Requeues FAILED and CANCELLED jobs, resets their budgets, keeps the attempt number. A job that
 * has SUCCEEDED is requeued only to run some of its steps again.
 */
public final class Retry {
  private static final Sql ENDED_BADLY =
      sql(Transition.from(JobState.FAILED, JobState.CANCELLED).to(JobState.PENDING));
  private static final Sql ENDED =
      sql(
          Transition.from(JobState.FAILED, JobState.CANCELLED, JobState.SUCCEEDED)
              .to(JobState.PENDING));

  private static Sql sql(Transition retried) {
    return Sql.of(
        """
        WITH held AS MATERIALIZED (
          SELECT j.id, j.state, j.attempt, j.event_count, ${worker} AS worker_id, j.started_event_number, j.started_at,
                 j.finished_at, j.failure ->> 'code' AS code
            FROM holdfast.job j
           WHERE j.id = ANY (:jobs) AND ${from} AND ${tenant}
             -- A job without its payload cannot run.
             AND NOT EXISTS (SELECT FROM holdfast.unreadable_payload u WHERE u.job_id = j.id)
           ORDER BY j.id
             FOR NO KEY UPDATE
        ), events_copied AS (
          -- The last events of a succeeded attempt are columns of the job's row, which are reset here.
          ${before}
        ), moved AS (
          UPDATE holdfast.job j
             SET ${set}, failures = 0, crashes = 0, isolated = false, run_at = clock_timestamp(),
                 result = CASE WHEN j.state <> 'SUCCEEDED' THEN j.result END,
                 finished_at = NULL, progress = NULL, progress_message = NULL,
                 cancel_requested_at = NULL, cancel_deadline = NULL, cancel_reason = NULL,
                 -- A deadline that has passed would fail the job again before it could run.
                 deadline = CASE WHEN j.deadline > clock_timestamp() THEN j.deadline END,
                 event_count = j.event_count + 1
            FROM held
           WHERE j.id = held.id AND ${from}
          RETURNING j.id, j.attempt, j.event_count, j.queue
        ), event_inserted AS (
          ${event}
        ), freed AS (
          -- Commands for its last run are void, and so are the resets it has used.
          DELETE FROM holdfast.job_command c USING moved m WHERE c.job_id = m.id
        ), refreshed AS (
          UPDATE holdfast.step s SET resets = 0 FROM moved m WHERE s.job_id = m.id AND s.resets > 0
        ), asked_again AS (
          -- A job that failed because of how its last wait ended waits once more, as a failed step
          -- runs once more.
          UPDATE holdfast.step s SET state = 'FAILED', ended = NULL
            FROM (SELECT DISTINCT ON (w.job_id) w.job_id, w.step_id
                    FROM held h JOIN holdfast.step w ON w.job_id = h.id
                   WHERE w.state = 'DONE'
                     AND (h.code, w.ended ->> 'sort', w.ended ->> 'outcome')
                         IN (('CHILD_FAILED', 'CHILDREN', 'FAILED'), ('NOT_DECIDED', 'APPROVAL', 'TIMEOUT'),
                             ('REJECTED', 'APPROVAL', 'REJECTED'), ('NOT_SIGNALLED', 'SIGNAL', 'TIMEOUT'))
                   ORDER BY w.job_id, w.finished_at DESC) AS last
           WHERE s.job_id = last.job_id AND s.step_id = last.step_id AND s.resets = 0
        )
        SELECT id, queue FROM moved
        """,
        "from",
        retried.isFrom("j"),
        "tenant",
        TenantSql.isOf("j"),
        "worker",
        WorkerSql.ofJob("j"),
        "set",
        retried.set(),
        "before",
        EventSql.copy(
            """
            SELECT id, started_event_number, 'processing', attempt, started_at,
                   jsonb_build_object('worker', worker_id)
              FROM held WHERE state = 'SUCCEEDED'
            UNION ALL
            SELECT id, event_count, 'done', attempt, finished_at, '{}' FROM held WHERE state = 'SUCCEEDED'
            """),
        "event",
        EventSql.append("j.event_count", "'retried'", "'{}'", "moved j"));
  }

  private Retry() {}

  /** One that was requeued, and where. */
  public record Retried(JobId job, String queue) {}

  /** The jobs that were requeued; the others had not ended in failure or cancellation. */
  public static List<Retried> all(Connection connection, List<JobId> jobs, Tenant tenant)
      throws SQLException {
    return all(connection, ENDED_BADLY, jobs, tenant);
  }

  /** However it ended. The same transaction then asks for one of its steps. */
  static List<Retried> toStep(Connection connection, JobId job) throws SQLException {
    return all(connection, ENDED, List.of(job), Tenant.ANY);
  }

  private static List<Retried> all(Connection connection, Sql sql, List<JobId> jobs, Tenant tenant)
      throws SQLException {
    return sql.on(connection)
        .array("jobs", "uuid", jobs, id -> id)
        .tenant(tenant)
        .list(row -> new Retried(Rows.id(row, "id"), row.getString("queue")));
  }
}
