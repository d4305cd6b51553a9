package dev.holdfast.queue.wait;

import dev.holdfast.model.attempt.WaitEnd;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.Transition;

/**
 * The end of a wait: one shape for all that end one. Each brings a CTE named {@code over}, which
 * has locked the rows of jobs that wait and says what their waits have brought; this makes them
 * claimable and keeps what was brought under the id of the wait, where the next attempt finds it.
 */
final class WakeSql {
  private static final Transition WOKEN = Transition.from(JobState.WAITING).to(JobState.PENDING);

  /**
   * That a job still waits, for rows that are found by their ids or by the time of their waits. Not
   * by state or sort: the planner would take one of the partial indexes of all that wait for it,
   * and compare each of these with each row of a batch.
   */
  static final String IS_WAITING = "j.wait IS NOT NULL";

  /**
   * Keeps what a wait has brought, as a step that is done.
   *
   * @see #of
   */
  static final String KEEP =
      """
      INSERT INTO holdfast.step AS s
             (job_id, step_id, step_index, state, attempt, job_attempt, checkpoint, ended,
              started_at, finished_at)
      SELECT ${row}, clock_timestamp()
        FROM ${from}
      ON CONFLICT (job_id, step_id) DO UPDATE
         SET state = 'DONE', attempt = s.attempt + 1, job_attempt = excluded.job_attempt,
             checkpoint = excluded.checkpoint, ended = excluded.ended, patch = NULL,
             started_at = excluded.started_at, finished_at = excluded.finished_at
      """;

  private static final String WRITE =
      """
      ${over}, moved AS (
        UPDATE holdfast.job j
           SET ${set}, run_at = coalesce(o.run_at, j.run_at), event_count = j.event_count + 1
          FROM over o
         WHERE j.id = o.id AND ${waiting}
        RETURNING j.id, j.queue, j.attempt, j.event_count, o.wait, o.ended, o.payload
      ), step_written AS (
        ${keep}
      ), event_inserted AS (
        ${event}
      )
      SELECT id, queue FROM moved
      """;

  private WakeSql() {}

  /**
   * How a wait has ended, an expression.
   *
   * @param more pairs of names and expressions after a comma, or nothing
   */
  static String ended(String sort, String outcome, String more) {
    return "jsonb_strip_nulls(jsonb_build_object('sort', %s, 'outcome', %s%s))"
        .formatted(sort, outcome, more);
  }

  /**
   * @param over columns id, wait (the column of the job), ended (a {@link WaitEnd}), payload (of a
   *     signal), run_at (null to keep the job's place in its queue)
   */
  static Sql of(String over) {
    return Sql.of(
        WRITE,
        "over",
        over,
        "set",
        WOKEN.set(),
        "waiting",
        IS_WAITING,
        "keep",
        Sql.fragment(
            KEEP,
            "row",
            """
            m.id, m.wait ->> 'id', (m.wait ->> 'index')::int, 'DONE', 1, m.attempt, m.payload, m.ended,
                   (m.wait ->> 'since')::timestamptz
            """,
            "from",
            "moved m"),
        "event",
        EventSql.append(
            "j.event_count",
            "'resumed'",
            "jsonb_build_object('waitId', j.wait ->> 'id', 'sort', lower(j.ended ->> 'sort'), 'outcome', lower(j.ended ->> 'outcome')) || (j.ended - '{sort,outcome}'::text[])",
            "moved j"));
  }
}
