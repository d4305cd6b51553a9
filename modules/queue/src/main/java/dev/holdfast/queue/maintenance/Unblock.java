package dev.holdfast.queue.maintenance;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Moves jobs out of WAITING: to PENDING once all that they depend on have ended, or to CANCELLED or
 * FAILED as soon as one of those has failed.
 *
 * <p>A settle does not look for jobs that depend on its own, because every settle would pay for it.
 * This runs after it, on another thread; what is missed then is found by an empty claim, which runs
 * this for its queue, and by every sweep, for all queues.
 */
public final class Unblock {
  /** Of a job {@code j}: all that it depends on have ended, or one has failed. */
  static final String READY =
      """
      (NOT EXISTS (
         SELECT FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.depends_on_id
          WHERE d.job_id = j.id AND p.finished_at IS NULL)
       OR j.when_dependency_fails <> 'RUN' AND EXISTS (
         SELECT FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.depends_on_id
          WHERE d.job_id = j.id AND p.state IN ('FAILED', 'CANCELLED')))
      """;

  private static final int BATCH = 1_000;
  private static final int BATCHES = 100;
  private static final Transition UNBLOCKED =
      Transition.from(JobState.WAITING).to(JobState.PENDING, JobState.FAILED, JobState.CANCELLED);

  private static final Sql OF_ALL = sql("true");
  private static final Sql OF_ONE = sql("j.queue = :queue");
  private static final Sql OF_ENDED =
      sql(
          """
          j.id IN (SELECT d.job_id FROM holdfast.dependency d
                    WHERE d.depends_on_id = ANY (:ended::uuid[]))
          """);

  private static Sql sql(String queue) {
    return Sql.of(
        """
        WITH ready AS MATERIALIZED (
          SELECT j.id, coalesce(j.when_dependency_fails, 'CANCEL') AS policy
            FROM holdfast.job j
           WHERE ${from} AND j.wait_sort IS NULL AND ${queue} AND ${ready}
           ORDER BY j.queue
           LIMIT :most
             FOR NO KEY UPDATE OF j SKIP LOCKED
        ), decided AS MATERIALIZED (
          SELECT r.id, failed.because,
                 CASE WHEN failed.because IS NULL OR r.policy = 'RUN' THEN 'PENDING'
                      WHEN r.policy = 'FAIL' THEN 'FAILED'
                      ELSE 'CANCELLED' END AS next
            FROM ready r
            LEFT JOIN LATERAL (
              SELECT format('job %s, which it depends on, ended %s', p.id, p.state) AS because
                FROM holdfast.dependency d JOIN holdfast.job p ON p.id = d.depends_on_id
               WHERE d.job_id = r.id AND p.state IN ('FAILED', 'CANCELLED')
               LIMIT 1) AS failed ON true
        ), moved AS (
          UPDATE holdfast.job j
             SET ${set},
                 finished_at = CASE d.next WHEN 'PENDING' THEN NULL ELSE clock_timestamp() END,
                 event_count = j.event_count + CASE d.next WHEN 'PENDING' THEN 0 ELSE 1 END,
                 failure = CASE d.next WHEN 'FAILED' THEN jsonb_build_object(
                     'category', 'USER_CODE', 'code', 'DEPENDENCY_FAILED',
                     'message', d.because, 'retryable', false) END
            FROM decided d
           WHERE j.id = d.id AND ${from} AND j.wait_sort IS NULL
          RETURNING j.id, j.queue, j.state, j.event_count, j.attempt, d.because
        ), event_inserted AS (
          ${event}
        )
        SELECT id, queue, state FROM moved
        """,
        "from",
        UNBLOCKED.isFrom("j"),
        "queue",
        queue,
        "ready",
        READY,
        "set",
        UNBLOCKED.set("d.next"),
        "event",
        EventSql.append(
            "j.event_count",
            "CASE j.state WHEN 'FAILED' THEN 'failed' ELSE 'cancelled' END",
            "jsonb_build_object('reason', j.because)",
            "moved j WHERE j.state <> 'PENDING'"));
  }

  private Unblock() {}

  /**
   * Jobs that no longer wait.
   *
   * @param queues the queue of each
   * @param ended those that have failed or were cancelled
   */
  public record Unblocked(List<String> queues, List<JobId> ended) {}

  /** Those that depend on these, and on what ends because of them. */
  public static Unblocked dependingOn(Database database, List<JobId> ended) {
    List<JobId> all = new ArrayList<>(ended);
    return unblocked(
        database,
        all::addAll,
        connection -> OF_ENDED.on(connection).array("ended", "uuid", all, job -> job));
  }

  /** All of a queue, or of all queues. */
  public static Unblocked ready(Database database, @Nullable String queue) {
    return unblocked(
        database,
        ended -> {},
        connection ->
            queue == null ? OF_ALL.on(connection) : OF_ONE.on(connection).set("queue", queue));
  }

  private interface Which {
    Sql.Call on(Connection connection) throws SQLException;
  }

  private record Moved(JobId job, String queue, JobState state) {
    static Moved read(ResultSet row) throws SQLException {
      return new Moved(
          Rows.id(row, "id"), row.getString("queue"), JobState.valueOf(row.getString("state")));
    }
  }

  private static Unblocked unblocked(
      Database database, Consumer<List<JobId>> onEnded, Which which) {
    List<String> queues = new ArrayList<>();
    List<JobId> ended = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      List<Moved> moved =
          database.run(
              "unblock", connection -> which.on(connection).set("most", BATCH).list(Moved::read));
      moved.stream().map(Moved::queue).forEach(queues::add);
      List<JobId> now =
          moved.stream().filter(each -> each.state().isTerminal()).map(Moved::job).toList();
      ended.addAll(now);
      onEnded.accept(now);
      // Until a batch is empty: a job that was cancelled may release the next one of a chain.
      if (moved.isEmpty()) {
        break;
      }
    }
    return new Unblocked(queues, ended);
  }
}
