package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobContent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.search.JobCounts;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.Where;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Counts the newest jobs by state, queue and kind, so that it takes as long beside millions. */
public final class CountsOfJobs {
  private static final int MOST = 20_000;

  // One row at least, which says how many were read.
  private static final String SQL =
      """
      WITH newest AS MATERIALIZED (
        SELECT state, queue, kind, ${conditions} AND ${found} AS counts
          FROM (SELECT * FROM holdfast.job ${range} ORDER BY id DESC LIMIT :most) AS job
      )
      SELECT searched, state, queue, kind, jobs
        FROM (SELECT count(*) AS searched FROM newest) AS all_of_them
        LEFT JOIN (SELECT state, queue, kind, count(*) AS jobs
                     FROM newest
                    WHERE counts
                    GROUP BY state, queue, kind) AS counted ON true
      """;

  private CountsOfJobs() {}

  private record Read(long searched, JobCounts.@Nullable Row row) {}

  public static JobCounts of(Connection connection, JobFilter filter) throws SQLException {
    try {
      return read(connection, filter, true);
    } catch (SQLException e) {
      if (!SqlErrors.isUnreadable(e)) {
        throw e;
      }
      return read(connection, filter, false);
    }
  }

  private static JobCounts read(Connection connection, JobFilter filter, boolean payloads)
      throws SQLException {
    ContentSql content = ContentSql.of(connection, filter.content(), payloads);
    Where range = Where.range(filter);
    Where where = Where.of(connection, filter.from(null).before(null).content(JobContent.ANY));
    Sql sql =
        Sql.of(SQL, "conditions", where.conditions(), "found", content.sql(), "range", range.sql());
    // Contents cost more to read.
    int most = filter.content().isAny() ? MOST : ContentSearch.BATCH;
    List<Read> rows =
        content
            .bind(where.bind(range.bind(sql.on(connection))))
            .set("most", most)
            .list(CountsOfJobs::read);
    long searched = rows.getFirst().searched();
    return new JobCounts(
        rows.stream().map(Read::row).filter(Objects::nonNull).toList(), searched, searched == most);
  }

  private static Read read(ResultSet row) throws SQLException {
    String state = row.getString("state");
    return new Read(
        row.getLong("searched"),
        state == null
            ? null
            : new JobCounts.Row(
                JobState.valueOf(state),
                row.getString("queue"),
                row.getString("kind"),
                row.getLong("jobs")));
  }
}
