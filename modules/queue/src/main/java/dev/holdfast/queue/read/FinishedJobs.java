package dev.holdfast.queue.read;

import dev.holdfast.model.ops.Throughput;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the jobs that ended since a moment, second by second. */
public final class FinishedJobs {
  // By the index on finished_at, which knows roughly where such rows lie. Whole seconds, so that
  // whoever asks again with some overlap can replace what he had, and late commits are counted too.
  private static final String SQL =
      """
      SELECT queue, date_trunc('second', finished_at) AS second,
             count(*) FILTER (WHERE state = 'SUCCEEDED') AS succeeded,
             count(*) FILTER (WHERE state = 'FAILED') AS failed,
             count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled,
             coalesce(sum(extract(epoch FROM finished_at - started_at))
                        FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000000 AS run_us
        FROM holdfast.job
       WHERE finished_at >= date_trunc('second', ?::timestamptz) %s
       GROUP BY 1, 2
      """;

  // Not one statement with a tenant that may be null: the driver would have it planned anew, and
  // without the settings of listByKey, whenever the type of that parameter changes.
  private static final String OF_ALL = SQL.formatted("");
  private static final String OF_ONE = SQL.formatted("AND tenant = ?");

  private FinishedJobs() {}

  public static List<Throughput> since(
      Connection connection, Instant since, @Nullable String tenant) throws SQLException {
    return tenant == null
        ? Rows.listByKey(connection, FinishedJobs::second, OF_ALL, since)
        : Rows.listByKey(connection, FinishedJobs::second, OF_ONE, since, tenant);
  }

  private static Throughput second(ResultSet row) throws SQLException {
    return new Throughput(
        row.getString("queue"),
        Rows.instant(row, "second"),
        row.getLong("succeeded"),
        row.getLong("failed"),
        row.getLong("cancelled"),
        Duration.ofNanos(row.getLong("run_us") * 1_000));
  }
}
