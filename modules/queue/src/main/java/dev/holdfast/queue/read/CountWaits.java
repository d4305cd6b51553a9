package dev.holdfast.queue.read;

import dev.holdfast.model.wait.WaitCount;
import dev.holdfast.model.wait.WaitSort;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Counts jobs whose handlers wait, by kind and by what they wait for. */
public final class CountWaits {
  // The oldest of each sort: beside a million jobs that sleep it costs no more, and a question that
  // was asked long ago is among those that are read.
  private static final Sql SQL =
      Sql.of(
          """
          SELECT one.kind, one.wait_sort, count(*) AS jobs,
                 extract(epoch FROM clock_timestamp() - min(one.since)) * 1000 AS oldest_ms
            FROM unnest(ARRAY['SLEEP', 'SIGNAL', 'APPROVAL', 'CHILDREN']) AS asked (sort)
           CROSS JOIN LATERAL (
                 SELECT j.kind, j.wait_sort, (j.wait ->> 'since')::timestamptz AS since
                   FROM holdfast.job j
                  WHERE j.wait_sort = asked.sort
                  ORDER BY j.created_at, j.id
                  LIMIT 10000) AS one
           GROUP BY one.kind, one.wait_sort
           ORDER BY jobs DESC, one.kind, one.wait_sort
          """);

  private CountWaits() {}

  public static List<WaitCount> of(Connection connection) throws SQLException {
    return SQL.on(connection)
        .list(
            row ->
                new WaitCount(
                    row.getString("kind"),
                    WaitSort.valueOf(row.getString("wait_sort")),
                    row.getLong("jobs"),
                    Duration.ofMillis(row.getLong("oldest_ms"))));
  }
}
