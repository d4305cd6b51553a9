package dev.holdfast.queue.health;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import java.time.Duration;
import java.time.Instant;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The rows of worker processes. A process and its supervisor both write to its row, the process
 * only while the row has its incarnation.
 */
public final class WorkerProcesses {
  // The exit code and reason of the process before it stay, as the reason for this start.
  private static final Sql STARTING =
      Sql.of(
          """
          INSERT INTO holdfast.health AS h
                 (supervisor, component, incarnation, status, last_seen, created_at,
                  paused_by_operator, restart_count, total_restarts, last_restart)
          VALUES (:supervisor, :component, :incarnation, 'starting', clock_timestamp(),
                  clock_timestamp(), :paused, :restarts, :totalRestarts, NULL)
          ON CONFLICT (supervisor, component) DO UPDATE
             SET incarnation = excluded.incarnation, status = 'starting', pid = NULL,
                 process_started_at = NULL, last_seen = excluded.last_seen, current_job = NULL,
                 paused_by_operator = excluded.paused_by_operator, next_restart = NULL,
                 details = '{}',
                 last_restart = CASE WHEN excluded.total_restarts > h.total_restarts
                                     THEN clock_timestamp() ELSE h.last_restart END,
                 restart_count = excluded.restart_count, total_restarts = excluded.total_restarts
          """);

  private static final Sql SPAWNED =
      Sql.of(
          """
          UPDATE holdfast.health SET pid = :pid, process_started_at = :startedAt
           WHERE supervisor = :supervisor AND component = :component AND incarnation = :incarnation
          """);

  private static final Sql BEAT =
      Sql.of(
          """
          UPDATE holdfast.health
             SET last_seen = clock_timestamp(), current_job = :job, details = :details::jsonb,
                 -- Two beats may overtake each other, and a process that stops stays so.
                 status = CASE WHEN status = 'stopping' THEN status ELSE :status END,
                 pid = :pid,
                 reason = CASE WHEN status IN ('starting', 'healthy') AND :status = 'healthy'
                               THEN :problem::text ELSE reason END
           WHERE supervisor = :supervisor AND component = :component AND incarnation = :incarnation
             AND status IN ('starting', 'healthy', 'stopping')
          """);

  private static final Sql STOPPING =
      Sql.of(
          """
          UPDATE holdfast.health SET status = 'stopping', reason = :reason
           WHERE supervisor = :supervisor AND component = :component AND incarnation = :incarnation
             AND status IN ('starting', 'healthy', 'stopping')
          """);

  // The exit is stored beside the row, which has only the last one: once for each process, since
  // a
  // row that says so already is no longer alive.
  private static final Sql ENDED =
      Sql.of(
          """
          WITH exit_inserted AS (
            INSERT INTO holdfast.worker_exit (supervisor, component, pid, started_at, ended_at,
                                              status, exit_code, reason)
            SELECT supervisor, component, pid, process_started_at, clock_timestamp(), :status,
                   :exitCode, :reason
              FROM holdfast.health
             WHERE supervisor = :supervisor AND component = :component
               AND incarnation = :incarnation AND status IN ('starting', 'healthy', 'stopping')
               AND (:exitCode::integer IS NOT NULL OR :status <> 'stopping')
          )
          UPDATE holdfast.health
             SET status = :status, pid = NULL, process_started_at = NULL, current_job = NULL,
                 exit_code = coalesce(:exitCode, exit_code), reason = :reason,
                 next_restart = clock_timestamp() + :restartIn::bigint * interval '1 millisecond'
           WHERE supervisor = :supervisor AND component = :component AND incarnation = :incarnation
          """);

  private static final Sql RESET_RESTARTS =
      Sql.of(
          """
          UPDATE holdfast.health SET restart_count = 0
           WHERE supervisor = :supervisor AND component = :component AND incarnation = :incarnation
          """);

  private static final Sql PAUSED =
      Sql.of(
          """
          UPDATE holdfast.health SET paused_by_operator = :paused
           WHERE supervisor = :supervisor AND component = :component
          """);

  // Commands, ends and logs are kept for thirty days, those of supervisors that have gone
  // included; a pause or stop that still holds is kept however old it is.
  private static final Sql CLEAR =
      Sql.of(
          """
          WITH old AS (
            DELETE FROM holdfast.worker_command c
             WHERE c.supervisor = :supervisor AND c.done_at IS NOT NULL
               AND c.requested_at < clock_timestamp() - interval '30 days'
               AND NOT (${inForce})
          ), ends AS (
            DELETE FROM holdfast.worker_exit
             WHERE ended_at < clock_timestamp() - interval '30 days'
          ), logs AS (
            DELETE FROM holdfast.worker_log
             WHERE at < clock_timestamp() - interval '30 days'
          )
          DELETE FROM holdfast.health WHERE supervisor = :supervisor
          """,
          "inForce",
          WorkerCommands.IS_IN_FORCE);

  private final Database database;

  WorkerProcesses(Database database) {
    this.database = database;
  }

  /** The row of a process: its supervisor, its component and its incarnation. */
  public record Place(String supervisor, String component, int incarnation) {}

  /** Written before a process is started all of whose restarts still count. */
  public void starting(Place place, int restarts, boolean paused) {
    starting(place, restarts, restarts, paused);
  }

  /**
   * Written by the supervisor before it starts the process.
   *
   * @param restarts after crashes, since it was last healthy for long enough
   */
  public void starting(Place place, int restarts, int totalRestarts, boolean paused) {
    update(
        STARTING,
        call ->
            at(place, call)
                .set("paused", paused)
                .set("restarts", restarts)
                .set("totalRestarts", totalRestarts));
  }

  /** Written by the supervisor once the process runs; from then on the process beats. */
  public void spawned(Place place, long pid, @Nullable Instant startedAt) {
    update(SPAWNED, call -> at(place, call).set("pid", pid).set("startedAt", startedAt));
  }

  /** The heartbeat of a process without a problem. */
  public boolean beat(
      Place place, HealthStatus status, long pid, @Nullable JobId currentJob, Json details) {
    return beat(place, status, pid, currentJob, null, details);
  }

  /**
   * Written by the process itself. False when its supervisor has given it up: another process has
   * its row, or will have it.
   *
   * @param problem what is wrong with a process that is otherwise healthy
   */
  public boolean beat(
      Place place,
      HealthStatus status,
      long pid,
      @Nullable JobId currentJob,
      @Nullable String problem,
      Json details) {
    return update(
            BEAT,
            call ->
                at(place, call)
                    .set("job", currentJob)
                    .set("details", details)
                    .set("status", status.text())
                    .set("pid", pid)
                    .set("problem", problem))
        > 0;
  }

  /** Written by the supervisor when it asks the process to end, which may not answer. */
  public void stopping(Place place, String reason) {
    update(STOPPING, call -> at(place, call).set("reason", reason));
  }

  /**
   * Written by the supervisor once the process is gone.
   *
   * @param next STOPPING if it was asked to end, otherwise CRASHED or FAILED
   * @param restartIn null when it is not going to be started again
   */
  public void ended(
      Place place,
      HealthStatus next,
      @Nullable Integer exitCode,
      String reason,
      @Nullable Duration restartIn) {
    update(
        ENDED,
        call ->
            at(place, call)
                .set("status", next.text())
                .set("exitCode", exitCode)
                .set("reason", reason)
                .set("restartIn", restartIn));
  }

  /** Resets the restarts that the backoff counts, of a process that was healthy for long enough. */
  public void resetRestarts(Place place) {
    update(RESET_RESTARTS, call -> at(place, call));
  }

  public void paused(String supervisor, String component, boolean paused) {
    update(
        PAUSED,
        call ->
            call.set("supervisor", supervisor).set("component", component).set("paused", paused));
  }

  /** Deletes the rows of a supervisor's processes: when it starts, and when it ends. */
  public void clear(String supervisor) {
    update(CLEAR, call -> call.set("supervisor", supervisor));
  }

  private static Sql.Call at(Place place, Sql.Call call) {
    return call.set("supervisor", place.supervisor())
        .set("component", place.component())
        .set("incarnation", place.incarnation());
  }

  private int update(Sql sql, UnaryOperator<Sql.Call> bind) {
    return database.run("health", connection -> bind.apply(sql.on(connection)).update());
  }
}
