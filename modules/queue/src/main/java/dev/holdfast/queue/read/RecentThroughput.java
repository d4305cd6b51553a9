package dev.holdfast.queue.read;

import dev.holdfast.model.value.Moment;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sums up the jobs that ended between two moments, span by span. */
public final class RecentThroughput {
  // A job may be claimed a little before its time by another clock, so no wait is below zero.
  private static final Sql SQL =
      Sql.of(
          """
      SELECT date_bin(:span::bigint * interval '1 millisecond', finished_at, 'epoch') AS at,
             count(*) FILTER (WHERE state = 'SUCCEEDED') AS succeeded,
             count(*) FILTER (WHERE state = 'FAILED') AS failed,
             count(*) FILTER (WHERE state = 'CANCELLED') AS cancelled,
             coalesce(sum(run) FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000 AS run_ms,
             coalesce(max(run) FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000 AS longest_run_ms,
             coalesce(sum(wait) FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000 AS wait_ms,
             coalesce(max(wait) FILTER (WHERE state = 'SUCCEEDED'), 0) * 1000 AS longest_wait_ms
        FROM (SELECT state, finished_at,
                     extract(epoch FROM finished_at - started_at) AS run,
                     greatest(extract(epoch FROM started_at - run_at), 0) AS wait
                FROM holdfast.job j
               WHERE finished_at >= :from::timestamptz AND finished_at < :until::timestamptz
                 AND ${tenant}) AS ended
       GROUP BY 1
      """,
          "tenant",
          TenantSql.isOf("j"));

  private RecentThroughput() {}

  public static List<Moment> between(
      Connection connection, Duration span, Instant from, Instant until, @Nullable String tenant)
      throws SQLException {
    return SQL.on(connection)
        .set("span", span)
        .set("from", from)
        .set("until", until)
        .tenant(tenant)
        .listByKey(RecentThroughput::moment);
  }

  private static Moment moment(ResultSet row) throws SQLException {
    return new Moment(
        Rows.instant(row, "at"),
        row.getLong("succeeded"),
        row.getLong("failed"),
        row.getLong("cancelled"),
        Duration.ofMillis(row.getLong("run_ms")),
        Duration.ofMillis(row.getLong("longest_run_ms")),
        Duration.ofMillis(row.getLong("wait_ms")),
        Duration.ofMillis(row.getLong("longest_wait_ms")));
  }
}
