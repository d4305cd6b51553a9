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
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts jobs by state, queue and kind: the newest of all, and the newest of each state that has an
 * index of its own, so that it takes as long beside millions. Those states are what operators act
 * on, and a few failed jobs would be lost among many that succeeded since.
 */
public final class CountsOfJobs {
  private static final int MOST = 20_000;

  // One row at least, which says how many were read.
  private static final String SQL =
      """
      WITH newest AS MATERIALIZED (
        SELECT state, queue, kind, ${conditions} AND ${found} AS counts
          FROM (SELECT * FROM holdfast.job ${range} ${order} LIMIT :most) AS job
      )
      SELECT searched, state, queue, kind, jobs
        FROM (SELECT count(*) AS searched FROM newest) AS all_of_them
        LEFT JOIN (SELECT state, queue, kind, count(*) AS jobs
                     FROM newest
                    WHERE counts
                    GROUP BY state, queue, kind) AS counted ON true
      """;

  /** Each has a partial index. */
  private static final List<JobState> INDEXED =
      List.of(JobState.RUNNING, JobState.RETRYING, JobState.WAITING, JobState.FAILED);

  private static final String OF_ONE_STATE =
      "(SELECT * FROM holdfast.job WHERE state = '${state}' AND ${range} ${order} LIMIT :most)";

  private static final String BY_STATE =
      """
      SELECT state, queue, kind, count(*) FILTER (WHERE counts) AS jobs,
             sum(count(*)) OVER (PARTITION BY state) AS searched
        FROM (SELECT state, queue, kind, ${conditions} AS counts
                FROM (${states}) AS job) AS each
       GROUP BY state, queue, kind
      """;

  private CountsOfJobs() {}

  private record Read(long searched, JobCounts.@Nullable Row row) {}

  private record OfState(long searched, JobCounts.Row row) {}

  public static JobCounts of(Connection connection, JobFilter filter) throws SQLException {
    JobCounts newest = newest(connection, filter);
    if (!newest.more() || !filter.content().isAny()) {
      return newest;
    }
    List<OfState> indexed = ofStates(connection, filter);
    List<JobCounts.Row> rows = new ArrayList<>(newest.rows());
    rows.removeIf(row -> INDEXED.contains(row.state()));
    indexed.stream().map(OfState::row).filter(row -> row.jobs() > 0).forEach(rows::add);
    EnumSet<JobState> partial = EnumSet.allOf(JobState.class);
    INDEXED.forEach(partial::remove);
    indexed.stream()
        .filter(read -> read.searched() == MOST)
        .forEach(read -> partial.add(read.row().state()));
    return new JobCounts(rows, newest.searched(), true, List.copyOf(partial));
  }

  private static JobCounts newest(Connection connection, JobFilter filter) throws SQLException {
    try {
      return read(connection, filter, true);
    } catch (SQLException e) {
      if (!SqlErrors.isUnreadable(e)) {
        throw e;
      }
      return read(connection, filter, false);
    }
  }

  private static List<OfState> ofStates(Connection connection, JobFilter filter)
      throws SQLException {
    Where range = Where.range(filter);
    Where where = Where.of(connection, filter.from(null).before(null));
    String states =
        INDEXED.stream()
            .map(
                state ->
                    Sql.fragment(
                        OF_ONE_STATE,
                        "state",
                        state.name(),
                        "range",
                        range.conditions(),
                        "order",
                        state == JobState.FAILED ? Where.NEWEST_FIRST : ""))
            .collect(Collectors.joining(" UNION ALL "));
    Sql sql = Sql.of(BY_STATE, "conditions", where.conditions(), "states", states);
    return where
        .bind(range.bind(sql.on(connection)))
        .set("most", MOST)
        .list(row -> new OfState(row.getLong("searched"), row(row)));
  }

  private static JobCounts read(Connection connection, JobFilter filter, boolean payloads)
      throws SQLException {
    ContentSql content = ContentSql.of(connection, filter.content(), payloads);
    Where range = Where.range(filter);
    Where where = Where.of(connection, filter.from(null).before(null).content(JobContent.ANY));
    Sql sql =
        Sql.of(
            SQL,
            "conditions",
            where.conditions(),
            "found",
            content.sql(),
            "range",
            range.sql(),
            "order",
            Where.NEWEST_FIRST);
    // Contents cost more to read.
    int most = filter.content().isAny() ? MOST : ContentSearch.BATCH;
    List<Read> rows =
        content
            .bind(where.bind(range.bind(sql.on(connection))))
            .set("most", most)
            .list(CountsOfJobs::read);
    long searched = rows.getFirst().searched();
    return new JobCounts(
        rows.stream().map(Read::row).filter(Objects::nonNull).toList(),
        searched,
        searched == most,
        searched == most ? List.of(JobState.values()) : List.of());
  }

  private static Read read(ResultSet row) throws SQLException {
    String state = row.getString("state");
    return new Read(row.getLong("searched"), state == null ? null : row(row));
  }

  private static JobCounts.Row row(ResultSet row) throws SQLException {
    return new JobCounts.Row(
        JobState.valueOf(row.getString("state")),
        row.getString("queue"),
        row.getString("kind"),
        row.getLong("jobs"));
  }
}
