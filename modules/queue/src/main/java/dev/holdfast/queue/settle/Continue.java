package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.sql.EventSql;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Moves running jobs to SUCCEEDED, and enqueues another one in the place of each, which has all
 * that it has but its payload: one statement, so that a crash leaves both or none. One that was
 * asked to cancel is cancelled instead.
 *
 * <p>The rows are locked first, by a statement of its own: a signal that was committed while this
 * waited for its lock is in the mailbox then, and goes along.
 */
final class Continue {
  private static final Transition SUCCEEDED =
      Transition.from(JobState.RUNNING).to(JobState.SUCCEEDED);

  private static final String GIVEN =
      """
      unnest(:jobs::uuid[], :attempts::int4[], :successors::uuid[], :payloads::text[])
        AS g(id, attempt, successor, payload)
      """;

  // The key is given up by the update before the insert takes it. Signals that nobody has taken go
  // along, with new numbers: those of events in the successor's timeline.
  private static final Sql SQL =
      Sql.of(
          """
          WITH held AS MATERIALIZED (
            SELECT j.*, g.successor, g.payload AS next_payload
              FROM ${given} JOIN holdfast.job j ON j.id = g.id AND j.attempt = g.attempt
             WHERE ${running} AND j.cancel_requested_at IS NULL AND j.started_as IS NULL
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          ), mailbox AS MATERIALIZED (
            SELECT h.id, h.successor, m.number,
                   1 + row_number() OVER (PARTITION BY m.job_id ORDER BY m.number)::int AS next_number,
                   m.name, m.key, m.sent_by, m.sent_at
              FROM held h JOIN holdfast.signal m ON m.job_id = h.id AND m.taken_by IS NULL
          ), ended AS (
            UPDATE holdfast.job j
               SET ${set}, finished_at = clock_timestamp(), heartbeat_at = NULL,
                   lease_expires_at = NULL, event_count = j.event_count + 2
              FROM held h
             WHERE j.id = h.id
            RETURNING j.id, j.attempt, j.event_count, h.successor
          ), enqueued AS (
            INSERT INTO holdfast.job
                   (id, state, created_at, run_at, run_id, run_key, queue, kind, tenant, workspace,
                    priority, payload, max_attempts, max_crashes, timeout_ms, deadline,
                    unique_states, unique_key, unique_until, concurrency_key, concurrency_limit,
                    parent_id, attributes, event_count)
            SELECT h.successor, 'PENDING', clock_timestamp(), h.run_at, h.run_id, h.run_key, h.queue,
                   h.kind, h.tenant, h.workspace, h.priority, h.next_payload::jsonb,
                   h.max_attempts, h.max_crashes, h.timeout_ms, h.deadline,
                   h.unique_states, h.unique_key, h.unique_until,
                   h.concurrency_key, h.concurrency_limit, h.parent_id, h.attributes,
                   1 + (SELECT count(*) FROM mailbox m WHERE m.id = h.id)
              FROM ended e JOIN held h ON h.id = e.id
            RETURNING id, queue
          ), moved AS (
            UPDATE holdfast.signal s SET job_id = m.successor, number = m.next_number
              FROM mailbox m JOIN enqueued n ON n.id = m.successor
             WHERE s.job_id = m.id AND s.number = m.number
          ), event_inserted AS (
            ${event}
          ), events_copied AS (
            ${copied}
          )
          SELECT e.id, e.attempt, n.queue FROM ended e JOIN enqueued n ON n.id = e.successor
          """,
          "given",
          GIVEN,
          "running",
          FenceSql.isRunning("j"),
          "set",
          SUCCEEDED.setWithoutKey(),
          "event",
          EventSql.append(
              "j.event_count - 1",
              "'continued'",
              "jsonb_build_object('job', j.successor)",
              "ended j"),
          "copied",
          EventSql.copy(
              """
              SELECT m.successor, m.next_number, 'signal', 0, m.sent_at,
                     jsonb_strip_nulls(jsonb_build_object(
                       'name', m.name, 'key', m.key, 'by', nullif(m.sent_by, '')))
                FROM mailbox m
              """));

  private static final Sql BEFORE =
      Sql.of(
          """
          SELECT j.id, j.attempt, j.state = 'SUCCEEDED' AS continued,
                 j.cancel_requested_at IS NOT NULL AS cancelled
            FROM ${given} JOIN holdfast.job j ON j.id = g.id AND j.attempt = g.attempt
           WHERE j.state = 'SUCCEEDED' AND EXISTS (
                   SELECT FROM holdfast.job s
                    WHERE s.id = g.successor AND s.payload = g.payload::jsonb)
              OR ${running}
          """,
          "given",
          GIVEN,
          "running",
          FenceSql.isRunning("j"));

  private record Continued(Lease lease, String queue) {
    static Continued read(ResultSet row) throws SQLException {
      return new Continued(Rows.lease(row), row.getString("queue"));
    }
  }

  private record Before(Lease lease, boolean continued, boolean cancelled) {
    static Before read(ResultSet row) throws SQLException {
      return new Before(Rows.lease(row), row.getBoolean("continued"), row.getBoolean("cancelled"));
    }
  }

  private Continue() {}

  /** The leases that are settled like this now: by this call, or by one whose answer was lost. */
  static Set<Lease> all(Connection connection, List<Settlement.Continue> settlements)
      throws SQLException {
    return connection.getAutoCommit()
        ? Database.inTransaction(connection, in -> afterLocking(in, settlements))
        : afterLocking(connection, settlements);
  }

  private static Set<Lease> afterLocking(
      Connection connection, List<Settlement.Continue> settlements) throws SQLException {
    FenceSql.hold(connection, settlements.stream().map(Settlement.Continue::lease).toList());
    List<Continued> continued = bind(SQL.on(connection), settlements).list(Continued::read);
    Set<Lease> settled = new HashSet<>(continued.stream().map(Continued::lease).toList());
    if (!continued.isEmpty()) {
      QueueNotifier.sendWith(
          connection, continued.stream().map(Continued::queue).distinct().toList());
    }
    List<Settlement.Continue> left =
        settlements.stream().filter(each -> !settled.contains(each.lease())).toList();
    if (!left.isEmpty()) {
      settled.addAll(others(connection, left));
    }
    return settled;
  }

  private static Set<Lease> others(Connection connection, List<Settlement.Continue> left)
      throws SQLException {
    List<Before> found = bind(BEFORE.on(connection), left).list(Before::read);
    Set<Lease> settled = new HashSet<>();
    List<Settlement.Cancel> cancelled = new ArrayList<>();
    for (Before each : found) {
      if (each.continued()) {
        settled.add(each.lease());
      } else if (each.cancelled()) {
        cancelled.add(new Settlement.Cancel(each.lease(), null));
      } else {
        throw new RefusedException(
            Refusal.BAD_DEPENDENCY,
            "a job that another one has started cannot go on as a new one: whoever waits for it would"
                + " not get the result; end it, and start the next from there");
      }
    }
    if (!cancelled.isEmpty()) {
      settled.addAll(ReleaseAttempts.cancelled(connection, cancelled));
    }
    return settled;
  }

  private static Sql.Call bind(Sql.Call call, List<Settlement.Continue> settlements)
      throws SQLException {
    return call.leases(settlements.stream().map(Settlement.Continue::lease).toList())
        .array("successors", "uuid", settlements, Settlement.Continue::successor)
        .array("payloads", "text", settlements, Settlement.Continue::payload);
  }
}
