package dev.holdfast.queue.health;

import dev.holdfast.model.command.AcceptedWorkerCommand;
import dev.holdfast.model.command.WorkerCommand;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.SupervisorHealth;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.ops.WorkerHealth;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.recover.ReapResult;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Worker processes: how they are doing, what becomes of them, and what is asked of them. A process
 * and its supervisor write to its row by turns, the process only while its incarnation is the
 * row's.
 */
public final class WorkerRegistry {
  private static final String SUPERVISORS =
      """
      SELECT *, extract(epoch FROM clock_timestamp() - last_seen) * 1000 AS silent_ms
        FROM holdfast.supervisor
      """;

  private static final String SUPERVISOR = SUPERVISORS + " WHERE name = ?";

  private static final String APPEAR =
      """
      INSERT INTO holdfast.supervisor (name, host, pid, process_started_at, last_seen)
      VALUES (?, ?, ?, ?, clock_timestamp())
      ON CONFLICT (name) DO NOTHING
      """;

  private static final String REPLACE =
      """
      UPDATE holdfast.supervisor
         SET host = ?, pid = ?, process_started_at = ?, last_seen = clock_timestamp(),
             requeued_jobs = 0, ended_jobs = 0
       WHERE name = ? AND host = ? AND pid = ? AND process_started_at = ?
      """;

  private static final String WATCHING =
      """
      UPDATE holdfast.supervisor SET last_seen = clock_timestamp()
       WHERE name = ? AND host = ? AND pid = ? AND process_started_at = ?
      """;

  private static final String RECOVERED =
      """
      UPDATE holdfast.supervisor SET requeued_jobs = requeued_jobs + ?, ended_jobs = ended_jobs + ?
       WHERE name = ?
      """;

  private static final String LEAVE =
      """
      DELETE FROM holdfast.supervisor
       WHERE name = ? AND host = ? AND pid = ? AND process_started_at = ?
      """;

  // One that starts says nothing of itself, and what is to be started again needs somebody who
  // does it: both are believed while the supervisor is heard.
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

  private static final String ALL = ROWS + " ORDER BY h.component, h.supervisor LIMIT 10000";
  private static final String OF_ONE = ROWS + " WHERE h.supervisor = ? ORDER BY h.component";

  // What is known of the process before it stays, as the reason for this one.
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
             -- Two beats may overtake each other, and one that stops is not well again.
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

  // Orders are kept for a while for those who ask who it was; the last one is still in force.
  private static final String CLEAR =
      """
      WITH old AS (
        DELETE FROM holdfast.worker_order o
         WHERE o.supervisor = ? AND o.requested_at < clock_timestamp() - interval '30 days'
           AND o.id < (SELECT max(l.id) FROM holdfast.worker_order l
                        WHERE l.supervisor = o.supervisor AND l.component = o.component)
      )
      DELETE FROM holdfast.health WHERE supervisor = ?
      """;

  private static final String ORDER =
      """
      INSERT INTO holdfast.worker_order
             (supervisor, component, action, requested_by, reason, requested_at)
      SELECT h.supervisor, h.component, ?, ?, ?, clock_timestamp()
        FROM holdfast.health h
       WHERE h.component = ? AND (?::text IS NULL OR h.supervisor = ?::text)
       ORDER BY h.supervisor
      RETURNING *
      """;

  private static final String OPEN =
      """
      SELECT * FROM holdfast.worker_order
       WHERE supervisor = ? AND done_at IS NULL
       ORDER BY id
       LIMIT 1000
      """;

  private static final String DONE =
      "UPDATE holdfast.worker_order SET done_at = clock_timestamp() WHERE id = ?";

  private static final String IN_FORCE =
      """
      SELECT DISTINCT ON (component) *
        FROM holdfast.worker_order
       WHERE supervisor = ? AND done_at IS NOT NULL
       ORDER BY component, id DESC
      """;

  private final Database database;
  private final QueueNotifier doorbell;

  public WorkerRegistry(Database database, QueueNotifier doorbell) {
    this.database = database;
    this.doorbell = doorbell;
  }

  /** Which process a supervisor or the process itself speaks of. */
  public record Place(String supervisor, String component, int incarnation) {}

  /** The process that goes by a supervisor's name. */
  public record Supervising(String name, String host, long pid, Instant processStartedAt) {}

  /** How many jobs a supervisor took from dead processes since it began: put back, and ended. */
  public record Recovered(Supervising by, long requeued, long ended) {}

  /** One that was heard, and how long ago. */
  public record Known(Supervising supervising, Duration silentFor) {}

  // ---- for whoever wants to know

  public List<WorkerHealth> all() {
    return database.run("health", connection -> Rows.list(connection, WorkerRegistry::read, ALL));
  }

  public List<SupervisorHealth> supervisors() {
    return database.run(
        "health",
        connection ->
            Rows.list(
                connection,
                row ->
                    new SupervisorHealth(
                        row.getString("name"),
                        row.getString("host"),
                        Rows.instant(row, "last_seen"),
                        Objects.requireNonNull(Rows.millisOrNull(row, "silent_ms"))),
                SUPERVISORS + " ORDER BY name LIMIT 10000"));
  }

  /** Who goes by this name, if anybody, and how long ago he was heard. */
  public Optional<Known> supervisor(String name) {
    return database
        .run("health", connection -> Rows.list(connection, WorkerRegistry::known, SUPERVISOR, name))
        .stream()
        .findFirst();
  }

  /** What each supervisor there is has recovered. */
  public List<Recovered> recovered() {
    return database.run(
        "health",
        connection ->
            Rows.list(
                connection,
                row ->
                    new Recovered(
                        supervising(row), row.getLong("requeued_jobs"), row.getLong("ended_jobs")),
                SUPERVISORS + " ORDER BY name LIMIT 10000"));
  }

  // ---- from a supervisor

  /** Takes a name that nobody has. False when somebody has it. */
  public boolean appear(Supervising self) {
    return update(APPEAR, self.name(), self.host(), self.pid(), self.processStartedAt()) > 0;
  }

  /** Takes the name from one that is gone. False when another was quicker. */
  public boolean replace(Supervising gone, Supervising self) {
    return update(
            REPLACE,
            self.host(),
            self.pid(),
            self.processStartedAt(),
            gone.name(),
            gone.host(),
            gone.pid(),
            gone.processStartedAt())
        > 0;
  }

  /** Says that it is still there. False when another has taken its name. */
  public boolean watching(Supervising self) {
    return by(WATCHING, self);
  }

  /** Gives the name back; what is known of its processes is forgotten. */
  public void leave(Supervising self) {
    if (by(LEAVE, self)) {
      clear(self.name());
    }
  }

  private boolean by(String sql, Supervising self) {
    return update(sql, self.name(), self.host(), self.pid(), self.processStartedAt()) > 0;
  }

  public List<WorkerHealth> of(String supervisor) {
    return database.run(
        "health", connection -> Rows.list(connection, WorkerRegistry::read, OF_ONE, supervisor));
  }

  /** Before its process is started. */
  public void starting(Place place, int restarts, boolean paused) {
    update(STARTING, place.supervisor(), place.component(), place.incarnation(), paused, restarts);
  }

  /** The process is there; from now on it speaks for itself. */
  public void spawned(Place place, long pid, @Nullable Instant startedAt) {
    update(SPAWNED, pid, startedAt, place.supervisor(), place.component(), place.incarnation());
  }

  /** The process was told to end; it may not hear it, or not say so. */
  public void stopping(Place place, String reason) {
    update(STOPPING, reason, place.supervisor(), place.component(), place.incarnation());
  }

  /**
   * The process is gone.
   *
   * @param next stopping for one that was told to end, crashed or failed
   * @param restartIn null when nobody is going to start it again
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

  /** It has been well for long enough: its restarts count no more. */
  public void forgiven(Place place) {
    update(FORGIVEN, place.supervisor(), place.component(), place.incarnation());
  }

  public void paused(String supervisor, String component, boolean paused) {
    update(PAUSED, paused, supervisor, component);
  }

  /** Forgets the processes of a supervisor: at its start, and at its end. */
  public void clear(String supervisor) {
    update(CLEAR, supervisor, supervisor);
  }

  /**
   * Takes back at once what a process that is gone was running, the crash counted. Only for who
   * knows that it is gone.
   *
   * @param supervisor whose process it was, and who it is counted for
   * @param namePrefix of the name under which it held its leases
   */
  public ReapResult recover(String supervisor, String namePrefix, String why) {
    List<Reap.Reaped> reaped =
        database.transact(
            "recover",
            connection -> {
              List<Reap.Reaped> taken = Reap.of(connection, namePrefix, why);
              if (!taken.isEmpty()) {
                ReapResult swept = ReapResult.of(taken);
                Rows.update(
                    connection,
                    RECOVERED,
                    swept.requeued().size(),
                    swept.ended().size(),
                    supervisor);
              }
              return taken;
            });
    ReapResult swept = ReapResult.of(Reap.logged(reaped));
    doorbell.ring(swept.requeuedIn());
    return swept;
  }

  /** What operators asked for and nobody has done yet. */
  public List<WorkerCommand> open(String supervisor) {
    return database.run(
        "orders", connection -> Rows.list(connection, WorkerRegistry::order, OPEN, supervisor));
  }

  public void done(WorkerCommand order) {
    update(DONE, order.id());
  }

  /** The last order of each component, for a supervisor that begins anew. */
  public List<WorkerCommand> inForce(String supervisor) {
    return database.run(
        "orders", connection -> Rows.list(connection, WorkerRegistry::order, IN_FORCE, supervisor));
  }

  // ---- from the process

  /** As below, from a process that is well. */
  public boolean beat(
      Place place, HealthStatus status, long pid, @Nullable JobId currentJob, Json details) {
    return beat(place, status, pid, currentJob, null, details);
  }

  /**
   * False when it was given up: another one has its place, or will have.
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

  // ---- from an operator

  /**
   * Asks something of a worker.
   *
   * @param supervisor null for all that have such a component
   * @return an order for each that there is
   */
  public List<WorkerCommand> order(
      String component,
      @Nullable String supervisor,
      WorkerCommand.Action action,
      String requestedBy,
      String reason) {
    return database.run(
        "order",
        connection ->
            Rows.list(
                connection,
                WorkerRegistry::order,
                ORDER,
                action.text(),
                requestedBy,
                reason,
                component,
                supervisor,
                supervisor));
  }

  /** Asks something of those who would do it, or says why there are none. */
  public AcceptedWorkerCommand ask(WorkerFleet crew, WorkerCommand.Draft draft) {
    WorkerFleet.Judged judged = crew.judge(draft);
    return judged.against() == null
        ? new AcceptedWorkerCommand.Given(
            judged.rows().stream()
                .flatMap(
                    row ->
                        order(
                            row.component(),
                            row.supervisor(),
                            draft.action(),
                            draft.requestedBy(),
                            draft.reason())
                            .stream())
                .toList())
        : judged.against();
  }

  /** Asks for a new start of every process that crashed too often. */
  public List<WorkerCommand> resumeFailed(String requestedBy, String reason) {
    return all().stream()
        .filter(row -> row.status() == HealthStatus.FAILED)
        .flatMap(
            row ->
                order(
                    row.component(),
                    row.supervisor(),
                    WorkerCommand.Action.RESUME,
                    requestedBy,
                    reason)
                    .stream())
        .toList();
  }

  private int update(String sql, @Nullable Object... values) {
    return database.run("health", connection -> Rows.update(connection, sql, values));
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
        row.getBoolean("paused"),
        row.getInt("restart_count"),
        Rows.instantOrNull(row, "last_restart"),
        Rows.instantOrNull(row, "starts_at"),
        Rows.intOrNull(row, "exit_code"),
        row.getString("reason"),
        new Json(row.getString("details")),
        Rows.instant(row, "created_at"));
  }

  private static Known known(ResultSet row) throws SQLException {
    return new Known(supervising(row), Objects.requireNonNull(Rows.millisOrNull(row, "silent_ms")));
  }

  private static Supervising supervising(ResultSet row) throws SQLException {
    return new Supervising(
        row.getString("name"),
        row.getString("host"),
        row.getLong("pid"),
        Rows.instant(row, "process_started_at"));
  }

  private static WorkerCommand order(ResultSet row) throws SQLException {
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
