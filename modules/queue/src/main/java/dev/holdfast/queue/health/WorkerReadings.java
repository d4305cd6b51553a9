package dev.holdfast.queue.health;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.read.Holders;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

/** Reads the state of worker processes. */
public final class WorkerReadings {
  // A process that starts does not beat yet, and a restart needs a supervisor to carry it out: both
  // are shown as long as the supervisor beats.
  private static final String ROWS =
      """
      SELECT h.*, extract(epoch FROM clock_timestamp() - h.last_seen) * 1000 AS silent_ms,
             CASE WHEN h.status = 'starting' AND s.name IS NOT NULL THEN NULL
                  WHEN jsonb_typeof(h.details -> 'silentAfterMs') = 'number'
                  THEN (h.details ->> 'silentAfterMs')::numeric
                  ELSE %1$d END AS silent_after_ms,
             CASE WHEN s.name IS NOT NULL THEN h.next_restart END AS starts_at
        FROM holdfast.health h
        LEFT JOIN holdfast.supervisor s
          ON s.name = h.supervisor
         AND s.last_seen > clock_timestamp() - %1$d * interval '1 millisecond'
      """
          .formatted(WorkerHealth.TIMEOUT.toMillis());

  private static final Sql ALL = Sql.of(ROWS + " ORDER BY h.component, h.supervisor LIMIT 10000");

  private static final Sql OF_ONE =
      Sql.of(ROWS + " WHERE h.supervisor = :supervisor ORDER BY h.component");

  private static final int MOST_HOLDERS = 1_000;
  private static final int JOBS_PER_HOLDER = 1;

  private final Database database;
  private final Supervisors supervisors;
  private final WorkerPolls polls;

  WorkerReadings(Database database, Supervisors supervisors, WorkerPolls polls) {
    this.database = database;
    this.supervisors = supervisors;
    this.polls = polls;
  }

  public List<WorkerHealth> all() {
    return database.run("health", connection -> ALL.on(connection).list(WorkerReadings::read));
  }

  public List<WorkerHealth> of(String supervisor) {
    return database.run(
        "health",
        connection ->
            OF_ONE.on(connection).set("supervisor", supervisor).list(WorkerReadings::read));
  }

  /**
   * All workers: processes under supervisors, and others that hold leases or ask a server for jobs.
   * A tenant sees only the workers that do so for its jobs.
   */
  public WorkerFleet fleet(Tenant tenant) {
    List<Holder> holders =
        database.run(
            "holders", connection -> Holders.of(connection, tenant, JOBS_PER_HOLDER, MOST_HOLDERS));
    return tenant.isAny()
        ? new WorkerFleet(all(), supervisors.all(), holders, polls.live(Tenant.ANY), database.now())
        : WorkerFleet.of(holders, polls.live(tenant), database.now());
  }

  private static WorkerHealth read(ResultSet row) throws SQLException {
    return new WorkerHealth(
        row.getString("supervisor"),
        row.getString("component"),
        row.getInt("incarnation"),
        HealthStatus.of(row.getString("status")),
        row.getObject("pid", Long.class),
        Rows.instantOrNull(row, "process_started_at"),
        Rows.instant(row, "last_seen"),
        Objects.requireNonNull(Rows.millisOrNull(row, "silent_ms")),
        Rows.millisOrNull(row, "silent_after_ms"),
        Rows.idOrNull(row, "current_job"),
        row.getBoolean("paused_by_operator"),
        row.getInt("restart_count"),
        row.getInt("total_restarts"),
        Rows.instantOrNull(row, "last_restart"),
        Rows.instantOrNull(row, "starts_at"),
        Rows.intOrNull(row, "exit_code"),
        row.getString("reason"),
        new Json(row.getString("details")),
        Rows.instant(row, "created_at"));
  }
}
