package dev.holdfast.queue.health;

import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What operators ask of worker processes, and what their supervisors have done of it. */
public final class WorkerCommands {
  private static final Sql ADD =
      Sql.of(
          """
          INSERT INTO holdfast.worker_command
                 (supervisor, component, action, requested_by, reason, requested_at)
          SELECT h.supervisor, h.component, :action, :requestedBy, :reason, clock_timestamp()
            FROM holdfast.health h
           WHERE h.component = :component
             AND (:supervisor::text IS NULL OR h.supervisor = :supervisor::text)
           ORDER BY h.supervisor
          RETURNING *
          """);

  private static final Sql OPEN =
      Sql.of(
          """
          SELECT * FROM holdfast.worker_command
           WHERE supervisor = :supervisor AND done_at IS NULL
           ORDER BY id
           LIMIT 1000
          """);

  private static final Sql DONE =
      Sql.of("UPDATE holdfast.worker_command SET done_at = clock_timestamp() WHERE id = :id");

  // A pause lasts until a resume, over restarts and stops; a stop lasts until a resume or restart.
  static final String IS_IN_FORCE =
      """
      c.action IN ('pause', 'stop')
        AND NOT EXISTS (
              SELECT FROM holdfast.worker_command later
               WHERE later.supervisor = c.supervisor AND later.component = c.component
                 AND later.id > c.id AND later.done_at IS NOT NULL
                 AND (later.action IN (c.action, 'resume')
                      OR later.action = 'restart' AND c.action = 'stop'))
      """;

  private static final Sql IN_FORCE =
      Sql.of(
          """
          SELECT c.*
            FROM holdfast.worker_command c
           WHERE c.supervisor = :supervisor AND c.done_at IS NOT NULL
             AND ${inForce}
           ORDER BY c.id
          """,
          "inForce",
          IS_IN_FORCE);

  private final Database database;
  private final WorkerReadings readings;

  WorkerCommands(Database database, WorkerReadings readings) {
    this.database = database;
    this.readings = readings;
  }

  /**
   * Adds a command.
   *
   * @param supervisor null for all supervisors that have such a component
   * @return a command for each of them
   */
  public List<WorkerCommand> add(
      String component,
      @Nullable String supervisor,
      WorkerCommand.Action action,
      String requestedBy,
      String reason) {
    return database.run(
        "workerCommands",
        connection ->
            ADD.on(connection)
                .set("action", action.text())
                .set("requestedBy", requestedBy)
                .set("reason", reason)
                .set("component", component)
                .set("supervisor", supervisor)
                .list(WorkerCommands::read));
  }

  /** Adds a command for each process that would execute it, or answers why there is none. */
  public AcceptedWorkerCommand ask(WorkerFleet fleet, WorkerCommand.Draft draft) {
    WorkerFleet.Targets targets = fleet.targets(draft);
    return targets.refusal() == null
        ? new AcceptedWorkerCommand.Given(
            targets.rows().stream()
                .flatMap(
                    row ->
                        add(
                            row.component(),
                            row.supervisor(),
                            draft.action(),
                            draft.requestedBy(),
                            draft.reason())
                            .stream())
                .toList())
        : targets.refusal();
  }

  /** Resumes every process that failed because it crashed too often. */
  public List<WorkerCommand> resumeFailed(String requestedBy, String reason) {
    return readings.all().stream()
        .filter(row -> row.status() == HealthStatus.FAILED)
        .flatMap(
            row ->
                add(
                    row.component(),
                    row.supervisor(),
                    WorkerCommand.Action.RESUME,
                    requestedBy,
                    reason)
                    .stream())
        .toList();
  }

  /** The commands that the supervisor has not carried out yet. */
  public List<WorkerCommand> open(String supervisor) {
    return database.run(
        "workerCommands",
        connection -> OPEN.on(connection).set("supervisor", supervisor).list(WorkerCommands::read));
  }

  public void done(WorkerCommand command) {
    database.run(
        "workerCommands", connection -> DONE.on(connection).set("id", command.id()).update());
  }

  /** The pauses and stops that still hold, for a supervisor that starts again. */
  public List<WorkerCommand> inForce(String supervisor) {
    return database.run(
        "workerCommands",
        connection ->
            IN_FORCE.on(connection).set("supervisor", supervisor).list(WorkerCommands::read));
  }

  private static WorkerCommand read(ResultSet row) throws SQLException {
    return new WorkerCommand(
        row.getLong("id"),
        row.getString("supervisor"),
        row.getString("component"),
        WorkerCommand.Action.of(row.getString("action")),
        row.getString("requested_by"),
        row.getString("reason"),
        Rows.instant(row, "requested_at"));
  }
}
