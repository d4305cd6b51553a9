package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobContent;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.Where;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads jobs through, in their order, for what no index knows. It reads a batch after the other
 * until a page is full or its time is over; the answer then says where it stopped.
 */
final class ContentSearch {
  static final int BATCH = 5_000;

  private static final String LED =
      """
      SELECT created_at, id, ${found} AS found
        FROM holdfast.job
        ${where}
       ${order}
       LIMIT :most
      """;

  // Where no index leads to the jobs of a filter, a batch is that many jobs of any kind: the few
  // that match may be far apart.
  private static final String WALKED =
      """
      SELECT created_at, id, ${conditions} AND ${found} AS found
        FROM (SELECT * FROM holdfast.job ${range} ${order} LIMIT :most) AS job
       ${order}
      """;

  private record Looked(JobCursor job, @Nullable Boolean found) {}

  /**
   * @param next the last job that was read, if there are more
   * @param searchComplete whether nothing was left out: neither older jobs, nor payloads too large
   */
  record Found(List<JobId> jobs, @Nullable JobCursor next, boolean searchComplete) {}

  private final Connection connection;
  private final Duration timeout;

  ContentSearch(Connection connection, Duration timeout) {
    this.connection = connection;
    this.timeout = timeout;
  }

  Found find(JobFilter filter) throws SQLException {
    long began = System.nanoTime();
    List<JobId> found = new ArrayList<>();
    boolean all = true;
    JobFilter rest = filter;
    JobCursor read;
    do {
      List<Looked> batch = looked(rest);
      for (Looked each : batch) {
        if (each.found() == null) {
          all = false;
        } else if (each.found()) {
          found.add(each.job().id());
          if (found.size() == filter.limit()) {
            return new Found(found, each.job(), all);
          }
        }
      }
      if (batch.size() < BATCH) {
        return new Found(found, null, all);
      }
      read = batch.getLast().job();
      rest = rest.resumed(read);
    } while (System.nanoTime() - began < timeout.toNanos());
    return new Found(found, read, false);
  }

  private List<Looked> looked(JobFilter filter) throws SQLException {
    try {
      return looked(filter, true);
    } catch (SQLException e) {
      if (!SqlErrors.isUnreadable(e)) {
        throw e;
      }
      // A payload is damaged. Matches elsewhere are found, and the answer says that this is not
      // all.
      return looked(filter, false);
    }
  }

  private List<Looked> looked(JobFilter filter, boolean payloads) throws SQLException {
    ContentSql content = ContentSql.of(connection, filter.content(), payloads);
    Sql.Call call;
    if (Search.isLedTo(filter.content(JobContent.ANY))) {
      Where where = Where.of(connection, filter);
      Sql sql =
          Sql.of(LED, "found", content.sql(), "where", where.sql(), "order", Where.order(filter));
      call = where.bind(sql.on(connection));
    } else {
      Where range = Where.range(filter);
      Where where = Where.of(connection, filter.from(null).before(null));
      Sql sql =
          Sql.of(
              WALKED,
              "conditions",
              where.conditions(),
              "found",
              content.sql(),
              "range",
              range.sql(),
              "order",
              Where.order(filter));
      call = where.bind(range.bind(sql.on(connection)));
    }
    return content
        .bind(call)
        .set("most", BATCH)
        .list(row -> new Looked(Rows.cursor(row), Rows.booleanOrNull(row, "found")));
  }
}
