package dev.holdfast.queue.command;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.batch.LockedJob;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.CancelGraceSql;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.TenantSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** Cancels jobs: at once when they are not running, else by asking the worker to stop. */
public final class Cancel {
  // One statement decides: the row lock orders this against claim, settle and reap, so a job that
  // finishes at the same moment is either finished or cancelled, and the answer says which. What
  // the job is, only held knows: it has the row as it was locked, the update at first has it as our
  // snapshot saw it. It is computed again for the newest version, but only after the constraints
  // were checked on the old one, so every value must make sense beside either.
  private static final Transition CANCELLED =
      Transition.toFromAllBut(JobState.CANCELLED, JobState.RUNNING);

  // Before batch claims are kept out: while they are, this must not wait for a row.
  private static final Sql LOCK =
      Sql.of(
          """
          WITH RECURSIVE family(id, depth) AS (
            SELECT unnest(:jobs::uuid[]), 0
            UNION
            SELECT child.id, family.depth + 1
              FROM holdfast.job child JOIN family ON child.parent_id = family.id
             WHERE :cascade::bool AND family.depth < 100
          )
          SELECT ${columns}
            FROM holdfast.job j
           WHERE j.id IN (SELECT id FROM family) AND ${tenant}
           ORDER BY j.id
             FOR NO KEY UPDATE OF j
          """,
          "columns",
          LockedJob.COLUMNS,
          "tenant",
          TenantSql.isOf("j"));

  private static final Sql SQL =
      Sql.of(
          """
      WITH held AS MATERIALIZED (
        SELECT j.id, j.state, j.cancel_requested_at IS NOT NULL AS asked
          FROM holdfast.job j
         WHERE j.id = ANY (:jobs::uuid[])
         ORDER BY j.id
           FOR NO KEY UPDATE OF j
      ), moved AS (
        UPDATE holdfast.job j
           SET ${set},
               finished_at =
                 CASE h.state WHEN 'RUNNING' THEN j.finished_at ELSE clock_timestamp() END,
               heartbeat_at = CASE h.state WHEN 'RUNNING' THEN j.heartbeat_at END,
               lease_expires_at = CASE h.state WHEN 'RUNNING' THEN j.lease_expires_at END,
               cancel_requested_at = clock_timestamp(),
               cancel_deadline = clock_timestamp() + ${grace},
               cancel_reason = :reason,
               event_count = j.event_count + 1
          FROM held h
         WHERE j.id = h.id AND NOT h.asked
           AND (h.state = 'RUNNING' OR ${from})
        RETURNING j.id, j.state, j.attempt, j.event_count
      ), event_inserted AS (
        ${event}
      )
      SELECT h.id, h.state AS was, m.state AS became
        FROM held h LEFT JOIN moved m ON m.id = h.id
       ORDER BY h.id
      """,
          "set",
          CANCELLED.set("CASE h.state WHEN 'RUNNING' THEN j.state ELSE 'CANCELLED' END"),
          "grace",
          CancelGraceSql.of("j"),
          "from",
          CANCELLED.isFrom("h"),
          "event",
          EventSql.append(
              "j.event_count",
              "CASE j.state WHEN 'CANCELLED' THEN 'cancelled' ELSE 'cancel:requested' END",
              "jsonb_build_object('reason', :reason::text)",
              "moved j"));

  private Cancel() {}

  /** In one transaction: of these jobs and, when cascading, of their children. */
  public static List<Cancellation> some(
      Connection connection, List<JobId> jobs, boolean cascade, String reason, Tenant tenant)
      throws SQLException {
    return MaterializedJobs.changing(
        connection,
        in -> lock(in, jobs, cascade, tenant),
        (in, locked) -> of(in, locked.stream().map(LockedJob::job).toList(), reason));
  }

  /**
   * Until no child has come: one may have been enqueued while this waited for its parent. One that
   * comes later is left alone; it may be in a batch claim by now.
   */
  private static List<LockedJob> lock(
      Connection connection, List<JobId> jobs, boolean cascade, Tenant tenant) throws SQLException {
    List<LockedJob> before;
    List<LockedJob> locked = List.of();
    do {
      before = locked;
      locked =
          LOCK.on(connection)
              .array("jobs", "uuid", jobs, job -> job)
              .set("cascade", cascade)
              .tenant(tenant)
              .list(LockedJob::read);
    } while (cascade && locked.size() > before.size());
    return locked;
  }

  /** Of exactly these, which are materialized. */
  public static List<Cancellation> of(Connection connection, List<JobId> jobs, String reason)
      throws SQLException {
    return SQL.on(connection)
        .array("jobs", "uuid", jobs, job -> job)
        .set("reason", reason.isBlank() ? "requested" : Limits.reason(reason))
        .list(Cancel::read);
  }

  private static Cancellation read(ResultSet row) throws SQLException {
    JobState was = JobState.valueOf(row.getString("was"));
    String became = row.getString("became");
    Cancellation.Outcome answer =
        became == null
            ? (was.isTerminal()
                ? Cancellation.Outcome.ALREADY_TERMINAL
                : Cancellation.Outcome.ALREADY_REQUESTED)
            : (JobState.valueOf(became) == JobState.CANCELLED
                ? Cancellation.Outcome.CANCELLED
                : Cancellation.Outcome.REQUESTED);
    return new Cancellation(Rows.id(row, "id"), was, answer);
  }
}
