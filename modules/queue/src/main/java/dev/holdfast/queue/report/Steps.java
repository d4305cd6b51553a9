package dev.holdfast.queue.report;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.StepState;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes how the steps of running jobs get on, fenced like every write, and reads it back. */
public final class Steps {
  private static final String HOLD =
      """
      SELECT id FROM holdfast.job
       WHERE id = ? AND attempt = ? AND lease_expires_at IS NOT NULL
         FOR NO KEY UPDATE
      """;

  // What was told before changes nothing, however late it comes again: an attempt of a step goes
  // from RUNNING to its end, and never back over that or over an attempt that came after it.
  private static final String WRITE =
      """
      INSERT INTO holdfast.step AS s
             (job_id, step_id, step_index, state, attempt, job_attempt, resets, checkpoint, patch,
              started_at, finished_at)
      SELECT ?, ?, ?, n.state, ?, ?, ?, ?::jsonb, ?, clock_timestamp(),
             CASE WHEN n.state <> 'RUNNING' THEN clock_timestamp() END
        FROM (SELECT ?::text AS state) AS n
      ON CONFLICT (job_id, step_id) DO UPDATE
         SET state = excluded.state, attempt = excluded.attempt, job_attempt = excluded.job_attempt,
             resets = s.resets + excluded.resets,
             checkpoint = excluded.checkpoint, patch = excluded.patch,
             started_at = CASE excluded.state WHEN 'RUNNING' THEN excluded.started_at
                                              ELSE s.started_at END,
             finished_at = excluded.finished_at
       WHERE (s.job_attempt, s.attempt) < (excluded.job_attempt, excluded.attempt)
          OR ((s.job_attempt, s.attempt) = (excluded.job_attempt, excluded.attempt)
              AND s.state = 'RUNNING' AND excluded.state <> 'RUNNING')
      """;

  private static final String OTHERS =
      "SELECT count(*) FROM holdfast.step WHERE job_id = ? AND step_id <> ?";

  private static final String FORGET =
      """
      UPDATE holdfast.step SET state = 'FAILED', checkpoint = NULL, patch = NULL
       WHERE job_id = ? AND step_index >= ? AND state = 'DONE'
      """;

  private static final String TELL =
      """
      WITH entry AS (
        SELECT * FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS e(type, data, n)
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT j.id, j.events + e.n, e.type, j.attempt, clock_timestamp(), e.data::jsonb
          FROM holdfast.job j, entry e
         WHERE j.id = ?
      )
      UPDATE holdfast.job SET events = events + (SELECT count(*) FROM entry) WHERE id = ?
      """;

  // Only a failure that something was decided about: one that was stopped has not failed by itself.
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
      SELECT step_id, step_index, state, attempt, resets, checkpoint, length(patch) AS patch_bytes,
             started_at, finished_at, %s AS failure
        FROM holdfast.step s
       WHERE job_id = ? AND (?::text IS NULL OR step_id = ?::text)
       ORDER BY step_index
      """
          .formatted(FAILURE.strip());

  // A thousand checkpoints of a megabyte each are nothing to look through.
  private static final String OVERVIEW =
      LIST.replace("checkpoint,", "NULL AS checkpoint,").replace(FAILURE.strip(), "NULL");

  // A worker that died, or was given up, leaves its step running; whoever recovers the job ends it.
  private static final String CUT_OFF =
      """
      WITH cut AS (
        UPDATE holdfast.step s
           SET state = 'INTERRUPTED', finished_at = clock_timestamp()
         WHERE s.job_id = ANY (?::uuid[]) AND s.state = 'RUNNING'
        RETURNING s.job_id, s.step_id, s.step_index, s.attempt
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT c.job_id, j.events + row_number() OVER (PARTITION BY c.job_id ORDER BY c.step_index),
               'task.step.attempt.failed', j.attempt, clock_timestamp(),
               jsonb_build_object(
                 'stepId', c.step_id, 'stepIndex', c.step_index, 'attempt', c.attempt,
                 'failureClass', 'transient_runtime', 'failureSignature', 'interrupted',
                 'strategy', 'queue_retry',
                 'summary', 'its worker was lost in the middle of this attempt')
          FROM cut c JOIN holdfast.job j ON j.id = c.job_id
      )
      UPDATE holdfast.job j
         SET events = j.events + c.steps
        FROM (SELECT job_id, count(*) AS steps FROM cut GROUP BY job_id) AS c
       WHERE j.id = c.job_id
      """;

  private Steps() {}

  /** In one transaction. */
  public static Ack write(Connection connection, Report.Step step) throws SQLException {
    Lease lease = step.lease();
    if (Rows.list(connection, row -> "", HOLD, lease.job(), lease.attempt()).isEmpty()) {
      return Ack.LEASE_LOST;
    }
    if (Rows.list(connection, row -> row.getInt(1), OTHERS, lease.job(), step.stepId()).getFirst()
        >= Limits.STEPS) {
      throw new RefusedException(
          Refusal.BAD_LIMIT, "a job has %,d steps at most".formatted(Limits.STEPS));
    }
    Patch patch = step.patch();
    int written =
        Rows.update(
            connection,
            WRITE,
            lease.job(),
            step.stepId(),
            step.index(),
            step.attempt(),
            lease.attempt(),
            step.reset() ? 1 : 0,
            step.checkpoint(),
            patch == null ? null : patch.bytes(),
            step.state().name());
    if (written == 0) {
      return Ack.ACCEPTED;
    }
    if (step.forgetFrom() != null) {
      Rows.update(connection, FORGET, lease.job(), step.forgetFrom());
    }
    if (step.honoured() != null) {
      Commands.honoured(connection, lease.job(), step.honoured());
    }
    tell(connection, lease.job(), step.events());
    return Ack.ACCEPTED;
  }

  /** The caller holds the job's row. */
  static void tell(Connection connection, JobId job, List<Report.Entry> entries)
      throws SQLException {
    if (!entries.isEmpty()) {
      Rows.update(
          connection,
          TELL,
          Rows.array(connection, "text", entries, Report.Entry::type),
          Rows.array(connection, "text", entries, Report.Entry::data),
          job,
          job);
    }
  }

  public static List<StepStatus> of(Connection connection, JobId job) throws SQLException {
    return read(connection, LIST, job, null);
  }

  public static List<StepStatus> overview(Connection connection, JobId job) throws SQLException {
    return read(connection, OVERVIEW, job, null);
  }

  public static Optional<StepStatus> one(Connection connection, JobId job, String step)
      throws SQLException {
    return read(connection, LIST, job, step).stream().findFirst();
  }

  private static List<StepStatus> read(
      Connection connection, String sql, JobId job, @Nullable String step) throws SQLException {
    return Rows.list(
        connection,
        row ->
            new StepStatus(
                row.getString("step_id"),
                row.getInt("step_index"),
                StepState.valueOf(row.getString("state")),
                row.getInt("attempt"),
                row.getInt("resets"),
                Rows.jsonOrNull(row, "checkpoint"),
                Rows.intOrNull(row, "patch_bytes"),
                Rows.instant(row, "started_at"),
                Rows.instantOrNull(row, "finished_at"),
                Rows.jsonOrNull(row, "failure")),
        sql,
        job,
        step,
        step);
  }

  public static Optional<Patch> patch(Connection connection, JobId job, String step)
      throws SQLException {
    return Rows.list(
            connection,
            row -> Patch.of(row.getBytes("patch")),
            "SELECT patch FROM holdfast.step WHERE job_id = ? AND step_id = ? AND patch IS NOT NULL",
            job,
            step)
        .stream()
        .findFirst();
  }

  /** Ends the steps that were under way in jobs whose attempt is over. */
  public static void cutOff(Connection connection, List<JobId> jobs) throws SQLException {
    Rows.update(connection, CUT_OFF, Rows.array(connection, "uuid", jobs, job -> job));
  }
}
