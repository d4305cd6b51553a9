package dev.holdfast.queue.command;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An operator's second chance: a fresh budget for FAILED and CANCELLED jobs, the fence untouched.
 * One that has SUCCEEDED is put back only to do some of its steps again.
 */
public final class Retry {
  /** Of suspects that have no key of their own; they do not take turns by it. */
  public static final String SUSPECT_KEY = "crashed:";

  private static final String SQL =
      """
      WITH held AS MATERIALIZED (
        SELECT j.id, j.state, j.attempt, j.events, j.worker_id, j.started_event, j.started_at,
               j.finished_at
          FROM holdfast.job j
         WHERE j.id = ANY (?) AND j.state IN (%1$s)
           -- Without its payload it would be another job.
           AND NOT EXISTS (SELECT FROM holdfast.unreadable u WHERE u.job_id = j.id)
           AND (?::text IS NULL OR j.tenant = ?::text)
         ORDER BY j.id
           FOR NO KEY UPDATE
      ), kept AS (
        -- Of an attempt that succeeded the timeline is read from the job's row, which forgets it.
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT id, started_event, 'processing', attempt, started_at,
               jsonb_build_object('worker', worker_id)
          FROM held WHERE state = 'SUCCEEDED'
        UNION ALL
        SELECT id, events, 'done', attempt, finished_at, '{}' FROM held WHERE state = 'SUCCEEDED'
      ), moved AS (
        UPDATE holdfast.job j
           SET state = 'PENDING', failures = 0, crashes = 0, run_at = clock_timestamp(),
               result = CASE WHEN j.state <> 'SUCCEEDED' THEN j.result END,
               finished_at = NULL, progress = NULL, progress_message = NULL,
               cancel_requested_at = NULL, cancel_deadline = NULL, cancel_reason = NULL,
               -- A deadline that has passed would fail the job again before it could run.
               deadline = CASE WHEN j.deadline > clock_timestamp() THEN j.deadline END,
               unique_states = holdfast.unique_after(j.unique_states, 'PENDING'),
               concurrency_limit = CASE WHEN j.alone AND j.concurrency_key = '%2$s'
                                        THEN NULL ELSE j.concurrency_limit END,
               concurrency_key = CASE WHEN j.alone AND j.concurrency_key = '%2$s'
                                      THEN NULL ELSE j.concurrency_key END,
               alone = false,
               events = j.events + 1
          FROM held
         WHERE j.id = held.id AND j.state IN (%1$s)
        RETURNING j.id, j.attempt, j.events, j.queue
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT id, events, 'retried', attempt, clock_timestamp(), '{}' FROM moved
      ), freed AS (
        -- What was asked of its last run is over, and so is what that has spent.
        DELETE FROM holdfast.control c USING moved m WHERE c.job_id = m.id
      ), refreshed AS (
        UPDATE holdfast.step s SET resets = 0 FROM moved m WHERE s.job_id = m.id AND s.resets > 0
      )
      SELECT id, queue FROM moved
      """;

  private static final String ENDED_BADLY = SQL.formatted(quoted(JobState.RETRYABLE), SUSPECT_KEY);
  private static final String ENDED = SQL.formatted(quoted(JobState.TERMINAL), SUSPECT_KEY);

  private Retry() {}

  private static String quoted(Set<JobState> states) {
    return states.stream().map(state -> "'" + state + "'").collect(Collectors.joining(", "));
  }

  /** One that was put back, and where. */
  public record Retried(JobId job, String queue) {}

  /** The jobs that were put back; the others had not ended in failure or cancellation. */
  public static List<Retried> all(Connection connection, List<JobId> jobs, @Nullable String tenant)
      throws SQLException {
    return all(connection, ENDED_BADLY, jobs, tenant);
  }

  /** However it ended. For whoever asks for one of its steps right after, in the transaction. */
  static List<Retried> toStep(Connection connection, JobId job) throws SQLException {
    return all(connection, ENDED, List.of(job), null);
  }

  private static List<Retried> all(
      Connection connection, String sql, List<JobId> jobs, @Nullable String tenant)
      throws SQLException {
    return Rows.list(
        connection,
        row -> new Retried(Rows.id(row, "id"), row.getString("queue")),
        sql,
        Rows.array(connection, "uuid", jobs, id -> id),
        tenant,
        tenant);
  }
}
