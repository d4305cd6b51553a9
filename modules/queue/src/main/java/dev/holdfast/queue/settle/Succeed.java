package dev.holdfast.queue.settle;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.FenceSql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Moves running jobs to SUCCEEDED, each if the caller still holds it. Writes no row but theirs. */
public final class Succeed {
  private static final Transition SUCCEEDED =
      Transition.from(JobState.RUNNING).to(JobState.SUCCEEDED);

  private static final String END =
      SUCCEEDED.set()
          + """
            , finished_at = clock_timestamp(), heartbeat_at = NULL, lease_expires_at = NULL,
              event_count = j.event_count + 1
            """;

  // The rows are locked in the order of their ids, as every batch does it. Each is looked up by its
  // id: joined as a whole, the planner may walk the index of running jobs instead, with all that
  // ran since the last vacuum in it. They are then written by their place in the table.
  private static final Sql SQL =
      Sql.of(
          """
          WITH input AS MATERIALIZED (
            SELECT :jobs::uuid[] AS ids, :attempts::int4[] AS attempts, :results::text[] AS results
          ), held AS MATERIALIZED (
            SELECT job.place
              FROM (SELECT d.id, d.attempt
                      FROM input, unnest(input.ids, input.attempts) AS d(id, attempt)
                     ORDER BY d.id) AS done
             CROSS JOIN LATERAL (
               SELECT j.ctid AS place
                 FROM holdfast.job j
                WHERE j.id = done.id AND j.attempt = done.attempt AND ${running}
                LIMIT 1
                  FOR NO KEY UPDATE) AS job
          )
          UPDATE holdfast.job j
             SET ${end},
                 -- The ids are sorted, so the bucket an id falls into is its place among them.
                 result =
                   (SELECT results FROM input)[width_bucket(j.id, (SELECT ids FROM input))]::jsonb
           WHERE j.ctid = ANY (ARRAY(SELECT h.place FROM held h))
          RETURNING j.id, j.attempt
          """,
          "running",
          FenceSql.isRunning("j"),
          "end",
          END);

  // For a row that a heartbeat changed between the snapshot and the lock: the statement above does
  // not see its new place yet, but by its id it is found.
  private static final Sql BY_ID =
      Sql.of(
          "UPDATE holdfast.job j SET ${end}, result = :result::jsonb WHERE ${held}",
          "end",
          END,
          "held",
          FenceSql.isHeld("j"));

  private static final Sql SUCCEEDED_BEFORE =
      Sql.of(
          """
          SELECT j.id, j.attempt
            FROM unnest(:jobs::uuid[], :attempts::int4[]) AS l(id, attempt)
            JOIN holdfast.job j ON j.id = l.id AND j.attempt = l.attempt
           WHERE j.state = 'SUCCEEDED'
          """);

  // Of two attempts at one job the later one counts, and it is the one the bucket leads to.
  private static final Comparator<Settlement> ORDER =
      Comparator.comparing((Settlement settlement) -> settlement.lease().job())
          .thenComparingInt(settlement -> settlement.lease().attempt());

  private Succeed() {}

  /** The leases that are settled now: by this call, or by an earlier one whose answer was lost. */
  public static Set<Lease> all(Connection connection, List<Settlement.Succeed> settlements)
      throws SQLException {
    List<Settlement.Succeed> sorted = settlements.stream().sorted(ORDER).toList();
    List<Lease> leases = sorted.stream().map(Settlement.Succeed::lease).toList();
    Set<Lease> settled =
        new HashSet<>(
            SQL.on(connection)
                .leases(leases)
                .array("results", "text", sorted, Settlement.Succeed::result)
                .listByKey(Rows::lease));
    if (settled.size() < leases.size()) {
      settled.addAll(before(connection, leases));
    }
    for (Settlement.Succeed left : sorted) {
      Lease lease = left.lease();
      if (!settled.contains(lease)
          && BY_ID.on(connection).lease(lease).set("result", left.result()).update() == 1) {
        settled.add(lease);
      }
    }
    return settled;
  }

  public static Set<Lease> before(Connection connection, List<Lease> leases) throws SQLException {
    return new HashSet<>(SUCCEEDED_BEFORE.on(connection).leases(leases).list(Rows::lease));
  }
}
