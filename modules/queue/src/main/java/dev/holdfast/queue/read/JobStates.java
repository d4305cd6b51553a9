package dev.holdfast.queue.read;

import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.sql.WorkerSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the states of jobs only. */
public final class JobStates {
  private static final Sql SQL =
      Sql.of(
          """
          SELECT j.id, j.tenant, j.state, j.attempt, j.failure ->> 'code' AS failure_code
            FROM holdfast.job j
           WHERE j.id = ANY (:jobs::uuid[])
          """);

  // What succeeded, or runs, is read from its job; all else from its attempt.
  private static final Sql WORKERS =
      Sql.of(
          """
          SELECT l.id, l.attempt, coalesce(a.worker_id, j.worker_id) AS worker_id
            FROM unnest(:jobs::uuid[], :attempts::int4[]) AS l(id, attempt)
            JOIN holdfast.job j ON j.id = l.id
            LEFT JOIN holdfast.attempt a ON a.job_id = l.id AND a.attempt = l.attempt
           WHERE a.worker_id IS NOT NULL OR (j.attempt = l.attempt AND j.worker_id IS NOT NULL)
          """);

  private static final Sql ENDED =
      Sql.of(
          """
          SELECT a.attempt, a.outcome, ${worker} AS worker_id, a.started_at, a.ended_at, a.failure
            FROM holdfast.attempt a
           WHERE a.job_id = :job AND a.attempt = :attempt
          """,
          "worker",
          WorkerSql.ofAttempt("a"));

  // What succeeded is read from its job; all else that ended from its attempt.
  private static final Sql RUN_TIMES =
      Sql.of(
          """
          SELECT l.id, l.attempt,
                 extract(epoch FROM coalesce(a.ended_at - a.started_at, j.finished_at - j.started_at))
                   * 1000 AS ms
            FROM unnest(:jobs::uuid[], :attempts::int4[]) AS l(id, attempt)
            JOIN holdfast.job j ON j.id = l.id
            LEFT JOIN holdfast.attempt a ON a.job_id = l.id AND a.attempt = l.attempt
           WHERE a.ended_at IS NOT NULL OR (j.attempt = l.attempt AND j.state = 'SUCCEEDED')
          """);

  private static final Sql OVER_HTTP =
      Sql.of(
          """
          SELECT count(*) AS held
            FROM holdfast.job j
           WHERE j.state = 'RUNNING' AND (j.claimed_over_http OR starts_with(j.worker_id, :pushed))
          """);

  // An attempt that succeeded has a row only in job; any other that ended, and one of a job that
  // went on, has one in attempt.
  private static final Sql HELD_WITHIN =
      Sql.of(
          """
          SELECT 1 FROM holdfast.job j
           WHERE j.id = :job AND j.attempt = :attempt
             AND (${running} OR (j.state = 'SUCCEEDED'
                             AND j.finished_at > statement_timestamp() - ${age}))
          UNION ALL
          SELECT 1 FROM holdfast.attempt a
           WHERE a.job_id = :job AND a.attempt = :attempt
             AND a.ended_at > statement_timestamp() - ${age}
           LIMIT 1
          """,
          "running",
          FenceSql.isRunning("j"),
          "age",
          ":age::float8 * interval '1 millisecond'");

  private JobStates() {}

  /** Whether an attempt holds its job, or did less than this long ago. */
  public static boolean heldWithin(Connection connection, Lease lease, Duration age)
      throws SQLException {
    return HELD_WITHIN.on(connection).lease(lease).set("age", age).found();
  }

  public static Map<Lease, String> workers(Connection connection, List<Lease> leases)
      throws SQLException {
    Map<Lease, String> workers = new HashMap<>();
    WORKERS
        .on(connection)
        .leases(leases)
        .listByKey(row -> Map.entry(Rows.lease(row), row.getString("worker_id")))
        .forEach(entry -> workers.put(entry.getKey(), entry.getValue()));
    return workers;
  }

  /** From the claim to the end, of those that have ended. */
  public static Map<Lease, Duration> runTimes(Connection connection, List<Lease> leases)
      throws SQLException {
    Map<Lease, Duration> times = new HashMap<>();
    RUN_TIMES
        .on(connection)
        .leases(leases)
        .listByKey(row -> Map.entry(Rows.lease(row), Duration.ofMillis(row.getLong("ms"))))
        .forEach(entry -> times.put(entry.getKey(), entry.getValue()));
    return times;
  }

  public static long heldOverHttp(Connection connection) throws SQLException {
    return OVER_HTTP.on(connection).set("pushed", Dispatch.WORKER).only(row -> row.getLong("held"));
  }

  public static Optional<Attempt> ended(Connection connection, Lease lease) throws SQLException {
    return ENDED.on(connection).lease(lease).first(JobReader::attempt);
  }

  public static List<JobStateSnapshot> of(Connection connection, List<JobId> jobs)
      throws SQLException {
    return SQL.on(connection)
        .array("jobs", "uuid", jobs, job -> job)
        .list(
            row ->
                new JobStateSnapshot(
                    Rows.id(row, "id"),
                    row.getString("tenant"),
                    JobState.valueOf(row.getString("state")),
                    row.getInt("attempt"),
                    row.getString("failure_code")));
  }
}
