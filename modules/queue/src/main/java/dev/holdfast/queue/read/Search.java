package dev.holdfast.queue.read;

import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobCursor;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.search.JobIdPage;
import dev.holdfast.model.search.JobPage;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.Where;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists jobs page by page, and those that have a certain content.
 *
 * <p>No index knows the contents, and none the kinds and queues of jobs that have ended, for each
 * would cost every job something. So jobs are read through, in order, up to a number or a time; the
 * answer says where it stopped, and the next page starts there.
 */
public final class Search {
  static final int MOST_WALKED = 100_000;

  /** How long one page is searched for. */
  private static final Duration TIMEOUT = Duration.ofMillis(400);

  private static final Duration NO_END = Duration.ofDays(1);

  /** Each of these is the condition of an index. */
  private static final Set<JobState> INDEXED =
      EnumSet.of(
          JobState.WAITING, JobState.PENDING, JobState.RUNNING, JobState.RETRYING, JobState.FAILED);

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
    if (!filter.content().isAny()) {
      return searched(connection, filter, TIMEOUT, detail);
    }
    List<JobStatus> jobs = JobReader.list(connection, rows(connection, filter, walked), detail);
    if (jobs.size() == filter.limit()) {
      return new JobPage(jobs, JobCursor.of(jobs.getLast()), null);
    }
    JobCursor stopped = isLedTo(filter) ? null : stopped(connection, filter, walked);
    return new JobPage(jobs, stopped, stopped == null ? null : Boolean.FALSE);
  }

  private static JobReader.Rowset rows(Connection connection, JobFilter filter, int walked)
      throws SQLException {
    return isLedTo(filter)
        ? JobReader.Rowset.led(connection, filter)
        : JobReader.Rowset.among(connection, filter, walked);
  }

  /** The ids of the jobs of such a page. */
  public static JobIdPage ids(Connection connection, JobFilter filter) throws SQLException {
    if (!filter.content().isAny()) {
      ContentSearch.Found found = new ContentSearch(connection, TIMEOUT).find(failedOnly(filter));
      return new JobIdPage(found.jobs(), found.next());
    }
    List<JobCursor> jobs = JobReader.places(connection, rows(connection, filter, MOST_WALKED));
    JobCursor next =
        jobs.size() == filter.limit()
            ? jobs.getLast()
            : isLedTo(filter) ? null : stopped(connection, filter, MOST_WALKED);
    return new JobIdPage(jobs.stream().map(JobCursor::id).toList(), next);
  }

  /** The jobs that were found within the time, at least those of the first batch. */
  static JobPage searched(
      Connection connection, JobFilter filter, Duration timeout, JobReader.Detail detail)
      throws SQLException {
    ContentSearch.Found found = new ContentSearch(connection, timeout).find(failedOnly(filter));
    List<JobStatus> all =
        found.jobs().isEmpty()
            ? List.of()
            : JobReader.all(connection, found.jobs(), filter, detail);
    return new JobPage(all, found.next(), found.searchComplete());
  }

  /** Only jobs that failed have a signature, and an index leads to those. */
  private static JobFilter failedOnly(JobFilter filter) {
    return filter.content().failure() != null && filter.states().isEmpty()
        ? filter.states(EnumSet.of(JobState.FAILED))
        : filter;
  }

  /** Whether an index knows them, or any job will do. */
  static boolean isLedTo(JobFilter filter) {
    // Unfinished jobs are among the newest. From the oldest on, job_created may lead to them
    // through all that have ended; only failed jobs have an index in the order of their creation.
    Set<JobState> states = filter.oldestFirst() ? EnumSet.of(JobState.FAILED) : INDEXED;
    boolean indexed = !filter.states().isEmpty() && states.containsAll(filter.states());
    boolean any =
        filter.equals(
            JobFilter.ALL
                .from(filter.from())
                .before(filter.before())
                .limit(filter.limit())
                .oldestFirst(filter.oldestFirst()));
    return indexed
        || any
        || filter.run() != null
        || filter.parent() != null
        || filter.tag() != null
        || filter.waits() != null;
  }

  /** The last that was walked over; null when there are not so many. */
  private static @Nullable JobCursor stopped(Connection connection, JobFilter filter, int walked)
      throws SQLException {
    Where range = Where.range(filter);
    Sql sql =
        Sql.of(
            "SELECT created_at, id FROM holdfast.job ${range} ${order} LIMIT 1 OFFSET :walked",
            "range",
            range.sql(),
            "order",
            Where.order(filter));
    return range
        .bind(sql.on(connection))
        .set("walked", walked - 1)
        .first(Rows::cursor)
        .orElse(null);
  }

  public static List<JobStatus> list(Connection connection, JobFilter filter) throws SQLException {
    return filter.content().isAny()
        ? JobReader.list(connection, JobReader.Rowset.led(connection, filter), JobReader.Detail.ALL)
        : searched(connection, filter, NO_END, JobReader.Detail.ALL).jobs();
  }

  /** Not more than so many: what is asked is whether it is a few or very many. */
  public static JobCount count(Connection connection, JobFilter filter, int most)
      throws SQLException {
    if (!filter.content().isAny()) {
      ContentSearch.Found found =
          new ContentSearch(connection, TIMEOUT).find(failedOnly(filter).limit(JobFilter.MOST));
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
}
