package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.jdbc.Where;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists jobs page by page, and those that a text stands in.
 *
 * <p>No index knows the texts, and none the kinds and queues of jobs that have ended, for each
 * would cost every job something. So the newest jobs are read through, up to a number; the answer
 * says where it stopped, and the next page goes on from there.
 */
public final class Search {
  static final int MOST_READ = 5_000;
  static final int MOST_WALKED = 100_000;
  static final int LARGEST_PAYLOAD = 1 << 16;

  private static final String LOOK =
      """
      SELECT id,
             CASE WHEN position(:text::text IN lower(concat_ws(chr(10), id, kind, run_key, unique_key,
                                                               failure ->> 'code',
                                                               failure ->> 'message'))) > 0 THEN true
                  ELSE ${inPayload}
             END AS found
        FROM holdfast.job
        ${where}
       ORDER BY id DESC
       LIMIT :most
      """;

  // Of a payload only its size, as it is stored and as it is written out, is looked at before it is
  // read: it may be a megabyte, or more than there is room for.
  private static final String IN_PAYLOAD =
      """
      CASE WHEN pg_column_size(payload) > %1$d OR NOT %2$s THEN NULL
           ELSE position(:text::text IN lower(payload::text)) > 0 END
      """
          .formatted(LARGEST_PAYLOAD, JobReader.isShort("payload", LARGEST_PAYLOAD));

  private static final String BESIDE_PAYLOADS = "NULL::boolean";

  private static final Sql LOWER = Sql.of("SELECT lower(:text) AS text");

  /** Each of these is the condition of an index. */
  private static final Set<JobState> INDEXED =
      EnumSet.of(
          JobState.WAITING, JobState.PENDING, JobState.RUNNING, JobState.RETRYING, JobState.FAILED);

  private record Looked(JobId job, @Nullable Boolean found) {}

  private record Found(List<JobId> jobs, @Nullable JobId next, boolean searchComplete) {}

  private Search() {}

  public static JobPage page(Connection connection, JobFilter filter, JobReader.Detail detail)
      throws SQLException {
    return page(connection, filter, MOST_WALKED, detail);
  }

  public static JobPage page(Connection connection, JobFilter filter, int walked)
      throws SQLException {
    return page(connection, filter, walked, JobReader.Detail.SHORT);
  }

  /**
   * @param walked over how many jobs, where no index leads to those that are wanted
   */
  private static JobPage page(
      Connection connection, JobFilter filter, int walked, JobReader.Detail detail)
      throws SQLException {
    String text = filter.text();
    if (text != null) {
      Found found = search(connection, filter, lower(connection, text));
      List<JobStatus> all =
          found.jobs().isEmpty() ? List.of() : JobReader.all(connection, found.jobs(), detail);
      return new JobPage(all, found.next(), found.searchComplete());
    }
    List<JobStatus> jobs =
        isLedTo(filter)
            ? JobReader.list(connection, filter, detail)
            : JobReader.listNewest(connection, filter, walked, detail);
    if (jobs.size() == filter.limit()) {
      return new JobPage(jobs, jobs.getLast().id(), true);
    }
    JobId stopped = isLedTo(filter) ? null : stopped(connection, filter, walked);
    return new JobPage(jobs, stopped, stopped == null);
  }

  /** Whether an index knows them, or any job will do. */
  private static boolean isLedTo(JobFilter filter) {
    boolean indexed = !filter.states().isEmpty() && INDEXED.containsAll(filter.states());
    boolean any =
        filter.equals(
            JobFilter.ALL.from(filter.from()).before(filter.before()).limit(filter.limit()));
    return indexed || any || filter.run() != null || filter.parent() != null;
  }

  /** The last that was walked over; null when there are not so many. */
  private static @Nullable JobId stopped(Connection connection, JobFilter filter, int walked)
      throws SQLException {
    Where range = Where.range(filter);
    Sql sql =
        Sql.of(
            "SELECT id FROM holdfast.job ${range} ORDER BY id DESC LIMIT 1 OFFSET :walked",
            "range",
            range.sql());
    return range
        .bind(sql.on(connection))
        .set("walked", walked - 1)
        .first(row -> Rows.id(row, "id"))
        .orElse(null);
  }

  public static List<JobStatus> list(Connection connection, JobFilter filter) throws SQLException {
    return filter.text() == null
        ? JobReader.list(connection, filter, JobReader.Detail.ALL)
        : page(connection, filter, JobReader.Detail.ALL).jobs();
  }

  /** Not more than so many: what is asked is whether it is a few or very many. */
  public static JobCount count(Connection connection, JobFilter filter, int most)
      throws SQLException {
    String text = filter.text();
    if (text != null) {
      Found found = search(connection, filter.limit(JobFilter.MOST), lower(connection, text));
      return new JobCount(found.jobs().size(), found.next() != null);
    }
    Where where = Where.of(connection, filter);
    Sql sql =
        Sql.of(
            "SELECT count(*) AS jobs FROM (SELECT FROM holdfast.job ${where} LIMIT :most) AS chosen",
            "where",
            where.sql());
    long counted =
        where.bind(sql.on(connection)).set("most", most + 1).only(row -> row.getLong("jobs"));
    return new JobCount(Math.min(counted, most), counted > most);
  }

  /** In the database's way, which is not quite Java's. */
  private static String lower(Connection connection, String text) throws SQLException {
    return LOWER.on(connection).set("text", text).only(row -> row.getString("text"));
  }

  private static List<Looked> looked(Connection connection, JobFilter filter, String text)
      throws SQLException {
    try {
      return looked(connection, filter, IN_PAYLOAD, text);
    } catch (SQLException trouble) {
      if (!SqlErrors.isUnreadable(trouble)) {
        throw trouble;
      }
      // A payload is damaged. What stands elsewhere is found, and the answer says that this is not
      // all.
      return looked(connection, filter, BESIDE_PAYLOADS, text);
    }
  }

  private static List<Looked> looked(
      Connection connection, JobFilter filter, String inPayload, String text) throws SQLException {
    Where where = Where.of(connection, filter);
    Sql sql = Sql.of(LOOK, "inPayload", inPayload, "where", where.sql());
    return where
        .bind(sql.on(connection))
        .set("text", text)
        .set("most", MOST_READ)
        .list(row -> new Looked(Rows.id(row, "id"), Rows.booleanOrNull(row, "found")));
  }

  private static Found search(Connection connection, JobFilter filter, String text)
      throws SQLException {
    List<Looked> looked = looked(connection, filter, text);
    List<JobId> found = new ArrayList<>();
    boolean all = true;
    for (Looked each : looked) {
      if (each.found() == null) {
        all = false;
      } else if (each.found()) {
        found.add(each.job());
        if (found.size() == filter.limit()) {
          return new Found(found, each.job(), all);
        }
      }
    }
    boolean stopped = looked.size() == MOST_READ;
    return new Found(found, stopped ? looked.getLast().job() : null, all && !stopped);
  }
}
