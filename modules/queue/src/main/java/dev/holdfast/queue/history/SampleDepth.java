package dev.holdfast.queue.history;

import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes how many jobs of each queue are due and running and how long the first has waited, and
 * sums such samples up.
 */
final class SampleDepth {
  /** Stands for all queues together; no queue has this name. */
  static final String ALL = "";

  private static final Sql INSERT =
      Sql.of(
          """
          INSERT INTO holdfast.queue_depth (step_seconds, at, queue, due, running, oldest_ms)
          SELECT ${minute}, :at, n.queue, n.due, n.running, n.oldest
            FROM unnest(:queues::text[], :due::int8[], :running::int8[], :oldest::int8[])
                 AS n(queue, due, running, oldest)
          ON CONFLICT DO NOTHING
          """,
          "minute",
          Integer.toString(Resolution.MINUTE.seconds()));

  private static final Sql SUM_UP =
      Sql.of(
          """
          INSERT INTO holdfast.queue_depth (step_seconds, at, queue, due, running, oldest_ms)
          SELECT :seconds, date_bin(:seconds * interval '1 second', at, 'epoch'), queue,
                 max(due), max(running), max(oldest_ms)
            FROM holdfast.queue_depth
           WHERE step_seconds = ${minute} AND at >= :from AND at < :until
           GROUP BY 2, 3
          ON CONFLICT DO NOTHING
          """,
          "minute",
          Integer.toString(Resolution.MINUTE.seconds()));

  /** How many, and how long the first due job has waited. */
  private record Row(String queue, long due, long running, long oldest) {}

  private SampleDepth() {}

  static void now(Connection connection, Instant minute) throws SQLException {
    List<Row> rows = new ArrayList<>();
    long due = 0;
    long running = 0;
    long oldest = 0;
    for (QueueStatus queue : Queues.list(connection, Tenant.ANY)) {
      due += queue.due();
      running += queue.running();
      long waited = queue.oldest() == null ? 0 : queue.oldest().toMillis();
      oldest = Math.max(oldest, waited);
      if (queue.due() + queue.running() > 0) {
        rows.add(new Row(queue.name(), queue.due(), queue.running(), waited));
      }
    }
    rows.add(new Row(ALL, due, running, oldest));
    INSERT
        .on(connection)
        .set("at", minute)
        .array("queues", "text", rows, Row::queue)
        .array("due", "int8", rows, Row::due)
        .array("running", "int8", rows, Row::running)
        .array("oldest", "int8", rows, Row::oldest)
        .update();
  }

  static void sumUp(Connection connection, Resolution to, Instant from, Instant until)
      throws SQLException {
    SUM_UP
        .on(connection)
        .set("seconds", to.seconds())
        .set("from", from)
        .set("until", until)
        .update();
  }
}
