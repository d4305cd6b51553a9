package dev.holdfast.queue;

import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Takes back jobs whose lease ran out. Any number of reapers may run at once. */
final class Reap {
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
          MAY_TAKE_BACK_FROM + " + ? * interval '1 millisecond' < clock_timestamp()");

  private static final String CRASHED =
      sql(
          """
          jsonb_build_object(
            'category', 'INFRASTRUCTURE', 'code', 'WORKER_CRASHED',
            'message', format('worker %s is gone: %s', j.worker_id, ?::text),
            'retryable', true)
          """,
          "starts_with(j.worker_id, ?)");

  // Jobs that a process ran side by side when it died are all suspects, and only one of them may be
  // to blame. Before the crash that would condemn them they run one after the other. Not those of
  // leases that ran out: behind one name may be a whole fleet that lost its network.
  private static final String APART =
      """
      UPDATE holdfast.job j
         SET concurrency_key = 'crashed:' || a.worker_id, concurrency_limit = 1
        FROM holdfast.attempt a
       WHERE j.id = ANY (?) AND j.state = 'PENDING' AND j.concurrency_key IS NULL
         AND j.crashes = j.max_crashes AND a.job_id = j.id AND a.attempt = j.attempt
      """;

  private static String sql(String failure, String condition) {
    return Ending.ofSome(
        """
        WITH lost AS MATERIALIZED (
          SELECT j.id, j.attempt, j.worker_id, j.crashes, j.max_crashes, j.cancel_requested_at,
                 %s AS failure
            FROM holdfast.job j
           WHERE j.state = 'RUNNING' AND %s
           ORDER BY j.queue, j.concurrency_key
           LIMIT ?
             FOR NO KEY UPDATE SKIP LOCKED
        ), ending AS MATERIALIZED (
          SELECT l.id, l.attempt, l.worker_id, 'CRASHED' AS outcome, l.failure,
                 CASE WHEN l.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                      WHEN l.crashes + 1 > l.max_crashes THEN 'FAILED'
                      ELSE 'PENDING' END AS next,
                 0 AS failed, 1 AS crashed,
                 CASE WHEN l.crashes + 1 > l.max_crashes AND l.cancel_requested_at IS NULL
                      THEN l.failure || jsonb_build_object(
                        'code', 'TOXIC_JOB',
                        'message', format('%%s died running this job; the last was %%s',
                                          CASE WHEN l.crashes = 0 THEN '1 worker'
                                               ELSE l.crashes + 1 || ' workers' END,
                                          l.worker_id),
                        'retryable', false,
                        'cause', l.failure)
                      ELSE l.failure END AS job_failure,
                 NULL::timestamptz AS run_at,
                 'requeued:stale' AS event,
                 NULL::jsonb AS data
            FROM lost l
        )
        """
            .formatted(failure, condition));
  }

  private Reap() {}

  /** What became of one job. */
  record Reaped(JobId job, String queue, JobState state) {
    static Reaped read(ResultSet row) throws SQLException {
      return new Reaped(
          Rows.id(row, "id"), row.getString("queue"), JobState.valueOf(row.getString("state")));
    }
  }

  static List<Reaped> lost(Connection connection, Duration grace, int most) throws SQLException {
    return cutOff(connection, Rows.list(connection, Reaped::read, LOST, grace, most));
  }

  /** What a worker was running whose process is known to be gone. */
  static List<Reaped> of(Connection connection, String namePrefix, String why) throws SQLException {
    List<Reaped> reaped =
        Rows.list(connection, Reaped::read, CRASHED, why, namePrefix, Integer.MAX_VALUE);
    if (reaped.size() > 1) {
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
