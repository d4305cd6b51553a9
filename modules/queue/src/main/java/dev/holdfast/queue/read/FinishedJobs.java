package dev.holdfast.queue.read;

import dev.holdfast.model.ops.Throughput;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Counts the jobs that ended since a moment, second by second. */
public final class FinishedJobs {
  // By the index on finished_at, which knows roughly where such rows lie. Whole seconds, so that a
  // caller that asks again with some overlap can replace what it had, and late commits are counted.
  private static final Sql SQL =
      Sql.of(
          """
      SELECT queue, date_trunc('second', finished_at) AS second,
             count(*) FILTER (WHERE state = 'SUCCEEDED') AS succeeded,
             count(*) FILTER (WHERE state = 'FAILED') AS failed,
             count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled,
             coalesce(sum(extract(epoch FROM finished_at - started_at))
                        FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000000 AS run_us
        FROM holdfast.job j
       WHERE finished_at >= date_trunc('second', :since::timestamptz) AND ${tenant}
       GROUP BY 1, 2
      """,
          "tenant",
          TenantSql.isOf("j"));

  private FinishedJobs() {}

  public static List<Throughput> since(Connection connection, Instant since, Tenant tenant)
      throws SQLException {
    return SQL.on(connection).set("since", since).tenant(tenant).listByKey(FinishedJobs::second);
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
