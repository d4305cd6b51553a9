package dev.holdfast.queue.recover;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.lease.LeaseExpiry;
import dev.holdfast.queue.report.Steps;
import dev.holdfast.queue.settle.EndAttemptSql;
import dev.holdfast.queue.sql.ClaimDeliverySql;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requeues or fails jobs whose lease has expired. Any number of reapers may run at once. */
public final class Reap {
  private static final Logger log = LoggerFactory.getLogger(Reap.class);

  /** How often the lease of a job may expire unconfirmed before that counts as a crash. */
  public static final int MOST_UNCONFIRMED = 3;

  // The condition is inside the locking select, so PostgreSQL checks it again on the newest
  // version of each row: a heartbeat that was first keeps its job.
  private static final Sql LOST =
      sql(
          Sql.fragment(
              """
              jsonb_build_object(
                'category', 'INFRASTRUCTURE', 'code', 'HEARTBEAT_TIMEOUT',
                'message', format('worker %s was last heard at %s; its lease ran out at %s',
                                  ${worker}, j.heartbeat_at, j.lease_expires_at),
                'retryable', true)
              """,
              "worker", WorkerSql.ofJob("j")),
          LeaseExpiry.RAN_OUT,
          // Several processes may use one name, so only jobs that overlapped count as run together.
          "NOT l.isolated",
          "c.ended_at >= l.started_at",
          ClaimDeliverySql.isUnconfirmed("j"));

  private static final Sql CRASHED =
      sql(
          """
          jsonb_build_object(
            'category', 'INFRASTRUCTURE', 'code', 'WORKER_CRASHED',
            'message', format('worker %s is gone: %s', j.worker_id, :why::text),
            'retryable', true)
          """,
          "starts_with(j.worker_id, :prefix)",
          // A claim may be carried out after its process was found dead: that job never ran.
          "true",
          "true",
          // The process is known to have died.
          "false");

  // Of the jobs that a worker ran side by side when it died only one may have caused the crash. It
  // is counted for each, but fails none of them: a job that has used up its crashes like this is a
  // suspect from then on, which runs alone in a worker (see ClaimByRules), and only a crash there
  // makes it toxic. It is then the only job that all of its crashes have in common.
  //
  // The rows are taken in the order of the index job_running, by queue and start. In the order of
  // their ids, and with statistics of a busier hour, the planner would walk the primary key with
  // all jobs there ever were.
  //
  // A claim over HTTP is unconfirmed until a heartbeat or an event comes: the answer may have been
  // lost, or its client may have gone. A job whose lease expires unconfirmed is requeued without
  // counting a crash, since otherwise three lost answers would fail a job that never ran. A job
  // that
  // kills its worker before the first heartbeat looks the same, so this happens three times at
  // most;
  // from then on it counts as a crash, and a toxic job is found three workers later.
  private static Sql sql(
      String failure, String condition, String doubt, String overlap, String unconfirmed) {
    return EndAttemptSql.ofSome(
        Sql.fragment(
            """
            WITH lost AS MATERIALIZED (
              SELECT j.id, j.attempt, j.worker_id, ${worker} AS shown_worker, j.crashes, j.max_crashes, j.cancel_requested_at,
                     j.isolated, j.started_at,
                     ${unconfirmed}
                       AND (SELECT count(*) FROM holdfast.attempt u
                             WHERE u.job_id = j.id AND u.outcome = 'RELEASED'
                               AND u.failure IS NOT NULL) < ${mostUnconfirmed} AS unconfirmed,
                     ${failure} AS failure
                FROM holdfast.job j
               WHERE j.state = 'RUNNING' AND ${condition}
               ORDER BY j.queue, j.started_at
               LIMIT :most
                 FOR NO KEY UPDATE SKIP LOCKED
            ), holders AS MATERIALIZED (
              SELECT r.worker_id, count(*) AS jobs
                FROM holdfast.job r
               WHERE r.state = 'RUNNING'
               GROUP BY r.worker_id
            ), decided AS MATERIALIZED (
              SELECT l.*, l.crashes + 1 > l.max_crashes AS spent,
                     -- What this statement takes back is still running in its snapshot.
                     ${doubt} AND (
                       (SELECT h.jobs FROM holders h WHERE h.worker_id = l.worker_id) > 1
                       OR (SELECT c.job_id FROM holdfast.attempt c
                            WHERE c.worker_id = l.worker_id AND c.outcome = 'CRASHED'
                              AND c.job_id <> l.id AND ${overlap}
                            LIMIT 1) IS NOT NULL) AS ran_with_others
                FROM lost l
            ), ending AS MATERIALIZED (
              SELECT l.id, l.attempt, l.worker_id,
                     CASE WHEN l.unconfirmed THEN 'RELEASED' ELSE 'CRASHED' END AS outcome,
                     l.failure,
                     CASE WHEN l.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
                          WHEN l.unconfirmed THEN 'PENDING'
                          WHEN l.spent AND (l.max_crashes = 0 OR NOT l.ran_with_others) THEN 'FAILED'
                          ELSE 'PENDING' END AS next,
                     0 AS failed, CASE WHEN l.unconfirmed THEN 0 ELSE 1 END AS crashed,
                     CASE WHEN l.unconfirmed THEN NULL
                          WHEN l.cancel_requested_at IS NOT NULL OR NOT l.spent THEN l.failure
                          WHEN NOT l.ran_with_others
                          THEN l.failure || jsonb_build_object(
                            'code', 'TOXIC_JOB',
                            'message', format('%s died running this job; the last was %s, which ran'
                                              || ' nothing else',
                                              CASE WHEN l.crashes = 0 THEN '1 worker'
                                                   ELSE l.crashes + 1 || ' workers' END,
                                              l.shown_worker),
                            'retryable', false,
                            'cause', l.failure)
                          WHEN l.max_crashes = 0
                          THEN l.failure || jsonb_build_object('retryable', false)
                          ELSE l.failure END AS job_failure,
                     NULL::timestamptz AS run_at,
                     'requeued:stale' AS event,
                     NULL::jsonb AS data
                FROM decided l
            )
            """,
            "worker",
            WorkerSql.ofJob("j"),
            "failure",
            failure,
            "condition",
            condition,
            "doubt",
            doubt,
            "overlap",
            overlap,
            "unconfirmed",
            unconfirmed,
            "mostUnconfirmed",
            String.valueOf(MOST_UNCONFIRMED)));
  }

  private static final Sql MARK_SUSPECTS =
      Sql.of(
          """
          UPDATE holdfast.job j SET isolated = true
           WHERE j.id = ANY (:jobs::uuid[])
             AND j.state = 'PENDING' AND j.crashes > 0 AND j.crashes >= j.max_crashes
             AND NOT j.isolated
          """);

  private Reap() {}

  /**
   * What became of one job.
   *
   * @param worker the name under which it ran; null when it did not run
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

  /** Called after the commit. */
  public static List<Reaped> logged(List<Reaped> reaped) {
    for (Reaped each : reaped) {
      if (each.worker() != null) {
        log.info(
            "reaped job {}#{} of worker {}, now {}",
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
    return reaped(
        connection, LOST.on(connection).set("grace", grace).set("most", most).list(Reaped::read));
  }

  /** What a worker was running whose process is known to be gone. */
  public static List<Reaped> of(Connection connection, String namePrefix, String why)
      throws SQLException {
    return reaped(
        connection,
        CRASHED
            .on(connection)
            .set("why", why)
            .set("prefix", namePrefix)
            .set("most", Integer.MAX_VALUE)
            .list(Reaped::read));
  }

  /** In the same transaction: no worker claims one of them beside others in between. */
  private static List<Reaped> reaped(Connection connection, List<Reaped> reaped)
      throws SQLException {
    if (!reaped.isEmpty()) {
      MARK_SUSPECTS.on(connection).array("jobs", "uuid", reaped, Reaped::job).update();
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
