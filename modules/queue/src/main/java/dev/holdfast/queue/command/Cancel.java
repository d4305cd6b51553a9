package dev.holdfast.queue.command;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Text;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Cancels jobs: at once when they are not running, else by asking the worker to stop. */
public final class Cancel {
  // One statement decides: the row lock orders this against claim, settle and reap, so a job that
  // finishes at the same moment is either finished or cancelled, and the answer says which. What
  // the job is, only held knows: it has the row as it was locked, the update at first has it as our
  // snapshot saw it. It is computed again for the newest version, but only after the constraints
  // were checked on the old one, so every value must make sense beside either.
  private static final String SQL =
      """
      WITH RECURSIVE family(id, depth) AS (
        SELECT unnest(?::uuid[]), 0
        UNION
        SELECT child.id, family.depth + 1
          FROM holdfast.job child JOIN family ON child.parent_id = family.id
         WHERE ?::bool AND family.depth < 100
      ), held AS MATERIALIZED (
        SELECT j.id, j.state, j.cancel_requested_at IS NOT NULL AS asked
          FROM holdfast.job j
         WHERE j.id IN (SELECT id FROM family) AND (?::text IS NULL OR j.tenant = ?::text)
         ORDER BY j.id
           FOR NO KEY UPDATE OF j
      ), moved AS (
        UPDATE holdfast.job j
           SET state = CASE h.state WHEN 'RUNNING' THEN j.state ELSE 'CANCELLED' END,
               finished_at =
                 CASE h.state WHEN 'RUNNING' THEN j.finished_at ELSE clock_timestamp() END,
               heartbeat_at = CASE h.state WHEN 'RUNNING' THEN j.heartbeat_at END,
               lease_expires_at = CASE h.state WHEN 'RUNNING' THEN j.lease_expires_at END,
               cancel_requested_at = clock_timestamp(),
               cancel_deadline = clock_timestamp() + ? * interval '1 millisecond',
               cancel_reason = ?,
               events = j.events + 1,
               unique_states = holdfast.unique_after(
                 j.unique_states, CASE h.state WHEN 'RUNNING' THEN 'RUNNING' ELSE 'CANCELLED' END)
          FROM held h
         WHERE j.id = h.id AND NOT h.asked
           AND h.state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
        RETURNING j.id, j.state, j.attempt, j.events
      ), told AS (
        INSERT INTO holdfast.event (job_id, number, type, attempt, at, data)
        SELECT id, events,
               CASE state WHEN 'CANCELLED' THEN 'cancelled' ELSE 'cancel:requested' END,
               attempt, clock_timestamp(), jsonb_build_object('reason', ?::text)
          FROM moved
      )
      SELECT h.id, h.state AS was, m.state AS became
        FROM held h LEFT JOIN moved m ON m.id = h.id
       ORDER BY h.id
      """;

  private Cancel() {}

  /**
   * @param tenant whose jobs may be cancelled; null is everybody's
   */
  public static List<Cancellation> of(
      Connection connection,
      List<JobId> jobs,
      boolean cascade,
      String reason,
      Duration grace,
      @Nullable String tenant)
      throws SQLException {
    String why = reason.isBlank() ? "requested" : Text.excerpt(reason, Limits.REASON_CHARS);
    return Rows.list(
        connection,
        Cancel::read,
        SQL,
        Rows.array(connection, "uuid", jobs, job -> job),
        cascade,
        tenant,
        tenant,
        grace,
        why,
        why);
  }

  private static Cancellation read(ResultSet row) throws SQLException {
    JobState was = JobState.valueOf(row.getString("was"));
    String became = row.getString("became");
    Cancellation.Answer answer =
        became == null
            ? (was.isTerminal()
                ? Cancellation.Answer.ALREADY_TERMINAL
                : Cancellation.Answer.ALREADY_REQUESTED)
            : (JobState.valueOf(became) == JobState.CANCELLED
                ? Cancellation.Answer.CANCELLED
                : Cancellation.Answer.REQUESTED);
    return new Cancellation(Rows.id(row, "id"), was, answer);
  }
}
