package dev.holdfast.queue.health;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The rows of worker processes. A process and its supervisor both write to its row, the process
 * only while the row has its incarnation.
 */
public final class WorkerProcesses {
  // The exit code and reason of the process before it stay, as the reason for this start.
  private static final String STARTING =
      """
      INSERT INTO holdfast.health AS h
             (supervisor, component, incarnation, status, last_seen, created_at, paused,
              restart_count, last_restart)
      VALUES (?, ?, ?, 'starting', clock_timestamp(), clock_timestamp(), ?, ?, NULL)
      ON CONFLICT (supervisor, component) DO UPDATE
         SET incarnation = excluded.incarnation, status = 'starting', pid = NULL,
             process_started_at = NULL, last_seen = excluded.last_seen, current_job = NULL,
             paused = excluded.paused, next_restart = NULL, details = '{}',
             last_restart = CASE WHEN excluded.restart_count > h.restart_count
                                 THEN clock_timestamp() ELSE h.last_restart END,
             restart_count = excluded.restart_count
      """;

  private static final String SPAWNED =
      """
      UPDATE holdfast.health SET pid = ?, process_started_at = ?
       WHERE supervisor = ? AND component = ? AND incarnation = ?
      """;

  private static final String BEAT =
      """
      UPDATE holdfast.health
         SET last_seen = clock_timestamp(), current_job = ?, details = ?::jsonb,
             -- Two beats may overtake each other, and a process that stops stays so.
             status = CASE WHEN status = 'stopping' THEN status ELSE ? END,
             pid = ?,
             reason = CASE WHEN status IN ('starting', 'healthy') AND ? = 'healthy'
                           THEN ?::text ELSE reason END
       WHERE supervisor = ? AND component = ? AND incarnation = ?
         AND status IN ('starting', 'healthy', 'stopping')
      """;

  private static final String STOPPING =
      """
      UPDATE holdfast.health SET status = 'stopping', reason = ?
       WHERE supervisor = ? AND component = ? AND incarnation = ?
         AND status IN ('starting', 'healthy', 'stopping')
      """;

  private static final String ENDED =
      """
      UPDATE holdfast.health
         SET status = ?, pid = NULL, process_started_at = NULL, current_job = NULL,
             exit_code = coalesce(?, exit_code), reason = ?,
             next_restart = clock_timestamp() + ?::bigint * interval '1 millisecond'
       WHERE supervisor = ? AND component = ? AND incarnation = ?
      """;

  private static final String FORGIVEN =
      """
      UPDATE holdfast.health SET restart_count = 0
       WHERE supervisor = ? AND component = ? AND incarnation = ?
      """;

  private static final String PAUSED =
      "UPDATE holdfast.health SET paused = ? WHERE supervisor = ? AND component = ?";

  // Commands are kept for thirty days to show who asked; the last one of each component is in
  // force.
  private static final String CLEAR =
      """
      WITH old AS (
        DELETE FROM holdfast.worker_command o
         WHERE o.supervisor = ? AND o.requested_at < clock_timestamp() - interval '30 days'
           AND o.id < (SELECT max(l.id) FROM holdfast.worker_command l
                        WHERE l.supervisor = o.supervisor AND l.component = o.component)
      )
      DELETE FROM holdfast.health WHERE supervisor = ?
      """;

  private final Database database;

  WorkerProcesses(Database database) {
    this.database = database;
  }

  /** The row of a process: its supervisor, its component and its incarnation. */
  public record Place(String supervisor, String component, int incarnation) {}

  /** Written by the supervisor before it starts the process. */
  public void starting(Place place, int restarts, boolean paused) {
    update(STARTING, place.supervisor(), place.component(), place.incarnation(), paused, restarts);
  }

  /** Written by the supervisor once the process runs; from then on the process beats. */
  public void spawned(Place place, long pid, @Nullable Instant startedAt) {
    update(SPAWNED, pid, startedAt, place.supervisor(), place.component(), place.incarnation());
  }

  /** The beat of a process without trouble. */
  public boolean beat(
      Place place, HealthStatus status, long pid, @Nullable JobId currentJob, Json details) {
    return beat(place, status, pid, currentJob, null, details);
  }

  /**
   * Written by the process itself. False when its supervisor has given it up: another process has
   * its row, or will have it.
   *
   * @param trouble what is wrong with a process that is otherwise healthy
   */
  public boolean beat(
      Place place,
      HealthStatus status,
      long pid,
      @Nullable JobId currentJob,
      @Nullable String trouble,
      Json details) {
    return update(
            BEAT,
            currentJob,
            details,
            status.text(),
            pid,
            status.text(),
            trouble,
            place.supervisor(),
            place.component(),
            place.incarnation())
        > 0;
  }

  /** Written by the supervisor when it asks the process to end, which may not answer. */
  public void stopping(Place place, String reason) {
    update(STOPPING, reason, place.supervisor(), place.component(), place.incarnation());
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
        next.text(),
        exitCode,
        reason,
        restartIn,
        place.supervisor(),
        place.component(),
        place.incarnation());
  }

  /** Resets the count of restarts of a process that has been healthy for long enough. */
  public void forgiven(Place place) {
    update(FORGIVEN, place.supervisor(), place.component(), place.incarnation());
  }

  public void paused(String supervisor, String component, boolean paused) {
    update(PAUSED, paused, supervisor, component);
  }

  /** Deletes the rows of a supervisor's processes: when it starts, and when it ends. */
  public void clear(String supervisor) {
    update(CLEAR, supervisor, supervisor);
  }

  private int update(String sql, @Nullable Object... values) {
    return database.run("health", connection -> Rows.update(connection, sql, values));
  }
}
