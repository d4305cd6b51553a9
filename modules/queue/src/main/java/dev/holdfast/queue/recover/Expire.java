package dev.holdfast.queue.recover;

import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.settle.EndAttemptSql;
import dev.holdfast.queue.settle.Fail;
import dev.holdfast.queue.sql.CancelGraceSql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Ends what is out of time and was not ended by its worker: cancellations that were not
 * acknowledged, attempts past their timeout, jobs past their deadline.
 *
 * <p>A worker ends its own handlers in time; this is for those that do not listen, and for jobs
 * that never started. A running attempt is given the cancel grace period of its worker to stop
 * before it is fenced off.
 *
 * <p>Both look in the order of an index, for the reason {@link Reap} has.
 */
public final class Expire {
  // What is late is said of the row itself and not of a subquery beside it: when the row changed
  // between our snapshot and our lock, only what is said of the row is checked again, and an
  // attempt that began just now must not be ended for the one before it.
  private static final Sql RUNNING =
      running(
          """
          (j.cancel_deadline < statement_timestamp()
            OR j.deadline + ${grace} < statement_timestamp()
            OR j.started_at + j.timeout_ms * interval '1 millisecond' + ${grace}
               < statement_timestamp())\
          """);

  private static final Sql CANCELLED =
      running(
          """
          j.cancel_deadline < statement_timestamp()
            AND j.cancel_requested_at
                > statement_timestamp() - :age::float8 * interval '1 millisecond'\
          """);

  private static Sql running(String isLate) {
    return EndAttemptSql.ofSome(
        Sql.fragment(
                """
          WITH late AS MATERIALIZED (
            SELECT j.id, j.attempt, j.worker_id, j.failures, j.max_attempts, j.cancel_requested_at,
                   j.deadline, j.timeout_ms,
                   CASE WHEN j.cancel_deadline < statement_timestamp() THEN 'CANCEL_TIMEOUT'
                        WHEN j.deadline + ${grace} < statement_timestamp()
                          THEN 'DEADLINE_EXCEEDED'
                        ELSE 'ATTEMPT_TIMEOUT' END AS code
              FROM holdfast.job j
             WHERE j.state = 'RUNNING'
               AND ${late}
             ORDER BY j.queue, j.started_at
             LIMIT :most
               FOR NO KEY UPDATE SKIP LOCKED
          ), held AS MATERIALIZED (
            SELECT l.id, l.attempt, l.worker_id, l.failures, l.max_attempts, l.cancel_requested_at,
                   jsonb_build_object(
                     'category', CASE l.code WHEN 'CANCEL_TIMEOUT' THEN 'CANCELLED' ELSE 'TIMEOUT' END,
                     'code', l.code,
                     'message', CASE l.code
                       WHEN 'CANCEL_TIMEOUT' THEN '${cancelTimeout}'
                       WHEN 'DEADLINE_EXCEEDED' THEN format('the deadline was %s', l.deadline)
                       ELSE format('${attemptTimeout}', l.timeout_ms) END,
                     'retryable', l.code = 'ATTEMPT_TIMEOUT') AS failed_with,
                   l.code = 'ATTEMPT_TIMEOUT' AS retryable,
                   0 AS delay_ms
              FROM late l
          )
          """,
                "late",
                isLate.replace("${grace}", CancelGraceSql.of("j")),
                "grace",
                CancelGraceSql.of("j"),
                "cancelTimeout",
                Failure.CANCEL_TIMEOUT_MESSAGE,
                "attemptTimeout",
                Failure.ATTEMPT_TIMEOUT_MESSAGE)
            + Fail.ENDING_OF_FAILED);
  }

  private static final Transition EXPIRED =
      Transition.toFromAllBut(JobState.FAILED, JobState.RUNNING);

  private static final Sql NOT_RUNNING =
      Sql.of(
          """
          WITH late AS MATERIALIZED (
            SELECT j.id
              FROM holdfast.job j
             WHERE j.deadline < statement_timestamp() AND j.finished_at IS NULL AND ${from}
             ORDER BY j.deadline
             LIMIT :most
               FOR NO KEY UPDATE SKIP LOCKED
          ), failed AS (
            UPDATE holdfast.job j
               SET ${set}, finished_at = clock_timestamp(), event_count = j.event_count + 1,
                   failure = jsonb_build_object(
                     'category', 'TIMEOUT', 'code', 'DEADLINE_EXCEEDED',
                     'message', format('the deadline was %s; the job was %s', j.deadline, j.state),
                     'retryable', false)
              FROM late
             WHERE j.id = late.id AND ${from}
            RETURNING j.id, j.attempt, j.event_count, j.failure, j.queue, j.state
          ), event_inserted AS (
            ${event}
          )
          SELECT id, attempt, queue, state, NULL AS worker_id FROM failed
          """,
          "from",
          EXPIRED.isFrom("j"),
          "set",
          EXPIRED.set(),
          "event",
          EventSql.append(
              "j.event_count",
              "'failed'",
              """
              jsonb_build_object('code', j.failure ->> 'code', 'message', j.failure ->> 'message')
              """,
              "failed j"));

  private Expire() {}

  /** Only cancellations that were requested less than this long ago. */
  public static List<Reap.Reaped> cancelled(Connection connection, Duration age, int most)
      throws SQLException {
    return Reap.cutOff(
        connection,
        CANCELLED.on(connection).set("age", age).set("most", most).list(Reap.Reaped::read));
  }

  public static List<Reap.Reaped> late(Connection connection, int most) throws SQLException {
    List<Reap.Reaped> ended =
        new ArrayList<>(
            Reap.cutOff(
                connection, RUNNING.on(connection).set("most", most).list(Reap.Reaped::read)));
    ended.addAll(NOT_RUNNING.on(connection).set("most", most).list(Reap.Reaped::read));
    return ended;
  }
}
