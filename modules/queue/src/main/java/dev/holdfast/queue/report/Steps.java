package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.WaitEnds;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Reads how the steps of jobs got on, and ends those that were left running. */
public final class Steps {
  private static final Sql CONTINUES =
      Sql.of(
          """
          SELECT coalesce(bool_and(job_attempt < :attempt), false) AS continues
            FROM holdfast.step WHERE job_id = :job
          """);

  // Only a failure with a decision: an attempt that was stopped has not failed.
  private static final String FAILURE =
      """
      (SELECT CASE e.type WHEN 'task.step.attempt.failed' THEN e.data END
         FROM holdfast.event e
        WHERE e.job_id = s.job_id AND e.data ->> 'stepId' = s.step_id AND s.state <> 'DONE'
          AND (e.type = 'task.step.attempt.finished'
               OR (e.type = 'task.step.attempt.failed' AND e.data ->> 'strategy' IS NOT NULL))
        ORDER BY e.number DESC LIMIT 1)
      """;

  private static final String LIST =
      """
      SELECT job_id, step_id, step_index, state, attempt, resets, ${checkpoint} AS checkpoint,
             length(patch) AS patch_bytes, started_at, finished_at, ${failure} AS failure,
             ${ended}
        FROM holdfast.step s
       WHERE ${which}
       ORDER BY step_index
      """;

  private static Sql list(String checkpoint, String failure, String which) {
    return Sql.of(
        LIST,
        "checkpoint",
        checkpoint,
        "failure",
        failure,
        "ended",
        WaitEnds.columns("ended"),
        "which",
        which);
  }

  private static final Sql OF_JOBS = list("checkpoint", FAILURE, "job_id = ANY (:jobs::uuid[])");

  private static final Sql ONE = list("checkpoint", FAILURE, "job_id = :job AND step_id = :step");

  // A thousand checkpoints of a megabyte each are too much for an overview.
  private static final Sql OVERVIEW = list("NULL", "NULL", "job_id = :job");

  private static final Sql PATCH =
      Sql.of(
          """
          SELECT patch FROM holdfast.step
           WHERE job_id = :job AND step_id = :step AND patch IS NOT NULL
          """);

  private static final Sql PATCH_BYTES =
      Sql.of(
          """
          SELECT coalesce(sum(length(patch)), 0) AS bytes FROM holdfast.step
           WHERE job_id = :job AND state = 'DONE'
          """);

  // In the order of the steps, so that git applies one after the other, also to the same file.
  private static final Sql PATCHES =
      Sql.of(
          """
          SELECT string_agg(patch, ''::bytea ORDER BY step_index) AS patch FROM holdfast.step
           WHERE job_id = :job AND state = 'DONE' AND patch IS NOT NULL
          HAVING count(*) > 0
          """);

  // A worker that died, or lost its lease, leaves its step running; the recovery of the job ends
  // it.
  private static final Sql CUT_OFF =
      Sql.of(
          """
          WITH cut AS (
            UPDATE holdfast.step s
               SET state = 'INTERRUPTED', finished_at = clock_timestamp()
             WHERE s.job_id = ANY (:jobs::uuid[]) AND s.state = 'RUNNING'
            RETURNING s.job_id, s.step_id, s.step_index, s.attempt
          ), event_inserted AS (
            ${event}
          )
          UPDATE holdfast.job j
             SET event_count = j.event_count + c.steps
            FROM (SELECT job_id, count(*) AS steps FROM cut GROUP BY job_id) AS c
           WHERE j.id = c.job_id
          """,
          "event",
          EventSql.append(
              "j.event_count + row_number() OVER (PARTITION BY j.id ORDER BY c.step_index)",
              "'task.step.attempt.failed'",
              """
              jsonb_build_object(
                'stepId', c.step_id, 'stepIndex', c.step_index, 'attempt', c.attempt,
                'failureClass', 'transient_runtime', 'failureSignature', 'interrupted',
                'strategy', 'queue_retry',
                'summary', 'its worker was lost in the middle of this attempt')
              """,
              "cut c JOIN holdfast.job j ON j.id = c.job_id"));

  private Steps() {}

  /** The steps of each of these jobs, in their order. */
  public static List<List<StepStatus>> of(Connection connection, List<JobId> jobs)
      throws SQLException {
    Map<JobId, List<StepStatus>> steps = new HashMap<>();
    jobs.forEach(job -> steps.put(job, new ArrayList<>()));
    OF_JOBS
        .on(connection)
        .array("jobs", "uuid", List.copyOf(steps.keySet()), job -> job)
        .list(row -> Objects.requireNonNull(steps.get(Rows.id(row, "job_id"))).add(status(row)));
    return jobs.stream().map(job -> Objects.requireNonNull(steps.get(job))).toList();
  }

  public static List<StepStatus> overview(Connection connection, JobId job) throws SQLException {
    return OVERVIEW.on(connection).set("job", job).list(Steps::status);
  }

  public static Optional<StepStatus> one(Connection connection, JobId job, String step)
      throws SQLException {
    return ONE.on(connection).set("job", job).set("step", step).first(Steps::status);
  }

  private static StepStatus status(ResultSet row) throws SQLException {
    return new StepStatus(
        row.getString("step_id"),
        row.getInt("step_index"),
        StepState.valueOf(row.getString("state")),
        row.getInt("attempt"),
        row.getInt("resets"),
        Rows.jsonOrNull(row, "checkpoint"),
        Rows.intOrNull(row, "patch_bytes"),
        Rows.instant(row, "started_at"),
        Rows.instantOrNull(row, "finished_at"),
        Rows.jsonOrNull(row, "failure"),
        WaitEnds.read(row));
  }

  /** Whether attempts before this one have begun steps, and this one has begun none. */
  public static boolean continues(Connection connection, Lease attempt) throws SQLException {
    return CONTINUES.on(connection).lease(attempt).only(row -> row.getBoolean("continues"));
  }

  public static Optional<Patch> patch(Connection connection, JobId job, String step)
      throws SQLException {
    return PATCH
        .on(connection)
        .set("job", job)
        .set("step", step)
        .first(row -> Patch.of(row.getBytes("patch")));
  }

  /** The patches of all steps that are done as one, if any has one. */
  public static Optional<Patch> patches(Connection connection, JobId job) throws SQLException {
    long bytes = PATCH_BYTES.on(connection).set("job", job).only(row -> row.getLong("bytes"));
    if (bytes > Limits.PATCH_BYTES) {
      throw new RefusedException(
          Refusal.RESULT_TOO_LARGE,
          "the patches of all steps have %,d bytes, over the limit of %,d: read those of each step"
              .formatted(bytes, Limits.PATCH_BYTES));
    }
    return PATCHES.on(connection).set("job", job).first(row -> Patch.of(row.getBytes("patch")));
  }

  /** Ends the steps that were under way in jobs whose attempt is over. */
  public static void cutOff(Connection connection, List<JobId> jobs) throws SQLException {
    CUT_OFF.on(connection).array("jobs", "uuid", jobs, job -> job).update();
  }
}
