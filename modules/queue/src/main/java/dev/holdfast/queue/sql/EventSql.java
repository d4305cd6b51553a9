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
}
