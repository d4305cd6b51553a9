package dev.holdfast.queue.sql;

import dev.holdfast.queue.jdbc.Sql;

/**
 * Adds events to timelines. The writer holds the row lock of the job and increments {@code
 * job.event_count} in the same statement, so that the numbers have no gaps and every reader sees
 * one order.
 */
public final class EventSql {
  private static final String INSERT =
      "INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)\n";

  private static final String OF_STEPS =
      """
      SELECT s.job_id, s.finished_event_number - 1 AS number, 'task.step.attempt.started' AS type,
             s.job_attempt AS attempt, s.started_at AS at,
             jsonb_build_object(
               'stepId', s.step_id, 'stepIndex', s.step_index, 'attempt', s.attempt) AS data
        FROM ${from}
      UNION ALL
      SELECT s.job_id, s.finished_event_number, 'task.step.attempt.finished', s.job_attempt, s.finished_at,
             jsonb_build_object(
               'stepId', s.step_id, 'stepIndex', s.step_index, 'attempt', s.attempt,
               'startedAt', to_char(s.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
               'seconds', round(date_part('epoch', s.finished_at - s.started_at)::numeric, 3))
        FROM ${from}
      """;

  private EventSql() {}

  /**
   * @param number of the event, {@code j.event_count} where the row was updated before
   * @param type of the event, as an expression
   * @param data of the event, as an expression of type jsonb
   * @param from where the rows come from; {@code j} has the id and the attempt of each job
   */
  public static String append(String number, String type, String data, String from) {
    return Sql.fragment(
        INSERT
            + """
              SELECT j.id, ${number}, ${type}, j.attempt, clock_timestamp(), ${data}
                FROM ${from}
              """,
        "number",
        number,
        "type",
        type,
        "data",
        data,
        "from",
        from);
  }

  /**
   * Inserts events of the past, which have their own times.
   *
   * @param select of the six columns: job, number, type, attempt, time, data
   */
  public static String copy(String select) {
    return INSERT + select;
  }

  /**
   * The six columns of the events that have no rows of their own: those of steps that were reported
   * only once, when they were done.
   *
   * @param from where the steps come from; {@code s} has the columns of {@code holdfast.step}
   */
  public static String ofSteps(String from) {
    return Sql.fragment(OF_STEPS, "from", from);
  }
}
