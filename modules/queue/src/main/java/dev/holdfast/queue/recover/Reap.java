package dev.holdfast.queue.recover;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.report.Steps;
import dev.holdfast.queue.settle.EndAttemptSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes back jobs whose lease ran out. Any number of reapers may run at once. */
public final class Reap {
  private static final Logger log = LoggerFactory.getLogger(Reap.class);

  /** When a lease of a job {@code j} has run out for a reaper that has no grace period. */
  static final String MAY_TAKE_BACK_FROM =
      """
      greatest(j.lease_expires_at,
               pg_postmaster_start_time() + (j.lease_expires_at - j.heartbeat_at))
      """;

  // The condition stands inside the locking select, so it is checked again on the newest version
  // of each row: a heartbeat that was first keeps its job. A lease is never judged before the
  // server has been up for a whole one, or a restart of the database would look like the death of
  // every worker; how long a lease is, each row tells itself. Ordered as the index of running jobs
  // is: by id, and with statistics of a busier hour, the planner walks all jobs there ever were.
  private static final String LOST =
      sql(
          """
          jsonb_build_object(
            'category', 'INFRASTRUCTURE', 'code', 'HEARTBEAT_TIMEOUT',
            'message', format('worker %s was last heard at %s; its lease ran out at %s',
                              j.worker_id, j.heartbeat_at, j.lease_expires_at),
            'retryable', true)
          """,
          MAY_TAKE_BACK_FROM + " + ? * interval '1 millisecond' < clock_timestamp()",
          // Behind one name may be a whole fleet, so only what overlapped counts as company.
          "NOT l.alone",
          "c.ended_at >= l.started_at");

  private static final String CRASHED =
      sql(
          """
          jsonb_build_object(
            'category', 'INFRASTRUCTURE', 'code', 'WORKER_CRASHED',
            'message', format('worker %s is gone: %s', j.worker_id, ?::text),
            'retryable', true)
          """,
          "starts_with(j.worker_id, ?)",
          // A claim may be carried out after its process was found dead: that job never ran.
          "true",
          "true");

  // Jobs that a worker ran side by side when it died are all suspects, and only one of them may be
  // to blame. Each such crash is counted, but none of them is condemned by it: when the budget is
  // used up, a job gets a worker for itself (alone, see ClaimByRules), and only a crash there makes
  // it toxic. It is then the only job that all of its crashes have in common.
  private static String sql(String failure, String condition, String doubt, String overlap) {
    return EndAttemptSql.ofSome(
        """
        WITH lost AS MATERIALIZED (
          SELECT j.id, j.attempt, j.worker_id, j.crashes, j.max_crashes, j.cancel_requested_at,
                 j.alone, j.started_at,
                 %s AS failure
            FROM holdfast.job j
           WHERE j.state = 'RUNNING' AND %s
           ORDER BY j.queue, j.started_at
           LIMIT ?
             FOR NO KEY UPDATE SKIP LOCKED
        ), holders AS MATERIALIZED (
          SELECT r.worker_id, count(*) AS jobs
            FROM holdfast.job r
           WHERE r.state = 'RUNNING'
           GROUP BY r.worker_id
        ), judged AS MATERIALIZED (
          SELECT l.*, l.crashes + 1 > l.max_crashes AS spent,
                 -- What this statement takes back is still running in its snapshot.
                 %s AND (
                   (SELECT h.jobs FROM holders h WHERE h.worker_id = l.worker_id) > 1
                   OR (SELECT c.job_id FROM holdfast.attempt c
                        WHERE c.worker_id = l.worker_id AND c.outcome = 'CRASHED'
                          AND c.job_id <> l.id AND %s
                        LIMIT 1) IS NOT NULL) AS in_company
            FROM lost l
        ), ending AS MATERIALIZED (
          SELECT l.id, l.attempt, l.worker_id, 'CRASHED' AS outcome, l.failure,
                 CASE WHEN l.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                      WHEN l.spent AND (l.max_crashes = 0 OR NOT l.in_company) THEN 'FAILED'
                      ELSE 'PENDING' END AS next,
                 0 AS failed, 1 AS crashed,
                 CASE WHEN l.cancel_requested_at IS NOT NULL OR NOT l.spent THEN l.failure
                      WHEN NOT l.in_company
                      THEN l.failure || jsonb_build_object(
                        'code', 'TOXIC_JOB',
                        'message', format('%%s died running this job; the last was %%s, which ran'
                                          || ' nothing else',
                                          CASE WHEN l.crashes = 0 THEN '1 worker'
                                               ELSE l.crashes + 1 || ' workers' END,
                                          l.worker_id),
                        'retryable', false,
                        'cause', l.failure)
                      WHEN l.max_crashes = 0
                      THEN l.failure || jsonb_build_object('retryable', false)
                      ELSE l.failure END AS job_failure,
                 NULL::timestamptz AS run_at,
                 'requeued:stale' AS event,
                 NULL::jsonb AS data
            FROM judged l
        )
        """
            .formatted(failure, condition, doubt, overlap));
  }

  // A key, so that claims go the longer way; a job that has one keeps it.
  private static final String APART =
      """
      UPDATE holdfast.job j
         SET alone = true,
             concurrency_limit = CASE WHEN j.concurrency_key IS NULL
                                      THEN 1 ELSE j.concurrency_limit END,
             concurrency_key = coalesce(j.concurrency_key, '%s')
       WHERE j.id = ANY (?) AND j.state = 'PENDING' AND j.crashes >= j.max_crashes AND NOT j.alone
      """
          .formatted(Retry.SUSPECT_KEY);

  private Reap() {}

  /**
   * What became of one job.
   *
   * @param worker who had it; null when nobody had
   */
  public record Reaped(
      JobId job, int attempt, String queue, JobState state, @Nullable String worker) {
    static Reaped read(ResultSet row) throws SQLException {
      return new Reaped(
          Rows.id(row, "id"),
          row.getInt("attempt"),
          row.getString("queue"),
          JobState.valueOf(row.getString("state")),
          row.getString("worker_id"));
    }
  }

  /** To be told once it is so. */
  public static List<Reaped> logged(List<Reaped> reaped) {
    for (Reaped each : reaped) {
      if (each.worker() != null) {
        log.info(
            "job {}#{} was taken from {} and is {}",
            each.job(),
            each.attempt(),
            each.worker(),
            each.state());
      }
    }
    return reaped;
  }

  public static List<Reaped> lost(Connection connection, Duration grace, int most)
      throws SQLException {
    return apart(connection, Rows.list(connection, Reaped::read, LOST, grace, most));
  }

  /** What a worker was running whose process is known to be gone. */
  public static List<Reaped> of(Connection connection, String namePrefix, String why)
      throws SQLException {
    return apart(
        connection,
        Rows.list(connection, Reaped::read, CRASHED, why, namePrefix, Integer.MAX_VALUE));
  }

  /** In the same transaction: nobody claims one of them beside others in between. */
  private static List<Reaped> apart(Connection connection, List<Reaped> reaped)
      throws SQLException {
    if (!reaped.isEmpty()) {
      Rows.update(
          connection, APART, Rows.array(connection, "uuid", reaped, each -> each.job().value()));
    }
    return cutOff(connection, reaped);
  }

  /** In the same transaction: no step is left running under an attempt that is over. */
  static List<Reaped> cutOff(Connection connection, List<Reaped> reaped) throws SQLException {
    if (!reaped.isEmpty()) {
      Steps.cutOff(connection, reaped.stream().map(Reaped::job).toList());
    }
    return reaped;
  }
}
