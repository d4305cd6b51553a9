package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.AttemptOutcome;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.EventType;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Ends attempts that neither succeeded nor failed: cancelled, released or snoozed. None of them
 * touches a budget; a released or snoozed job that was asked to cancel is cancelled instead.
 */
public final class ReleaseAttempts {
  private static final Sql SQL =
      EndAttemptSql.ofKnown(
          Sql.fragment(
              """
          WITH given AS (
            SELECT * FROM unnest(:jobs::uuid[], :attempts::int4[], :delays::int8[],
                                 :events::text[], :data::text[])
              AS g(id, attempt, delay_ms, event, data)
          ), held AS MATERIALIZED (
            SELECT j.id, j.attempt, j.worker_id, j.cancel_requested_at, g.delay_ms, g.event, g.data
              FROM holdfast.job j JOIN given g ON g.id = j.id AND g.attempt = j.attempt
             WHERE ${running}
             ORDER BY j.id
               FOR NO KEY UPDATE OF j
          ), ending AS MATERIALIZED (
            SELECT h.id, h.attempt, h.worker_id, :outcome::text AS outcome, NULL::jsonb AS failure,
                   CASE WHEN h.event = 'cancelled' OR h.cancel_requested_at IS NOT NULL
                        THEN 'CANCELLED' ELSE 'PENDING' END AS next,
                   0 AS failed, 0 AS crashed, NULL::jsonb AS job_failure,
                   clock_timestamp() + h.delay_ms * interval '1 millisecond' AS run_at,
                   h.event, h.data::jsonb AS data
              FROM held h
          )
          """,
              "running",
              FenceSql.isRunning("j")));

  /** One attempt to end. Without a delay the job keeps its place in the queue. */
  private record Given(Lease lease, @Nullable Duration delay, String event, @Nullable Json data) {}

  private ReleaseAttempts() {}

  public static Set<Lease> cancelled(Connection connection, List<Settlement.Cancel> settlements)
      throws SQLException {
    return all(
        connection,
        settlements.stream()
            .map(s -> new Given(s.lease(), null, EventType.CANCELLED, s.partial()))
            .toList(),
        AttemptOutcome.CANCELLED);
  }

  public static Set<Lease> released(Connection connection, List<Settlement.Release> settlements)
      throws SQLException {
    return all(
        connection,
        settlements.stream()
            .map(
                s ->
                    new Given(
                        s.lease(),
                        null,
                        s.abortedByShutdown() ? EventType.ABORTED_SHUTDOWN : EventType.RELEASED,
                        null))
            .toList(),
        AttemptOutcome.RELEASED);
  }

  static Set<Lease> snoozed(Connection connection, List<Settlement.Snooze> settlements)
      throws SQLException {
    return all(
        connection,
        settlements.stream()
            .map(s -> new Given(s.lease(), s.delay(), EventType.SNOOZED, null))
            .toList(),
        AttemptOutcome.SNOOZED);
  }

  private static Set<Lease> all(Connection connection, List<Given> given, AttemptOutcome outcome)
      throws SQLException {
    List<Lease> leases = given.stream().map(Given::lease).toList();
    Set<Lease> settled =
        new HashSet<>(
            SQL.on(connection)
                .leases(leases)
                .array("delays", "int8", given, Given::delay)
                .array("events", "text", given, Given::event)
                .array("data", "text", given, Given::data)
                .set("outcome", outcome.name())
                .listByKey(Rows::lease));
    if (settled.size() < leases.size()) {
      settled.addAll(EndAttemptSql.before(connection, leases, outcome));
    }
    return settled;
  }
}
