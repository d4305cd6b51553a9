package dev.holdfast.queue.health;

import dev.holdfast.model.ops.SupervisorHealth;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The supervisors: one row for each name, held by the process that took the name. A supervisor
 * writes only to a row that still names its process.
 */
public final class Supervisors {
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

  private static final String LEAVE =
      """
      DELETE FROM holdfast.supervisor
       WHERE name = ? AND host = ? AND pid = ? AND process_started_at = ?
      """;

  private final Database database;
  private final WorkerProcesses processes;

  Supervisors(Database database, WorkerProcesses processes) {
    this.database = database;
    this.processes = processes;
  }

  /** The process that goes by a supervisor's name. */
  public record Supervising(String name, String host, long pid, Instant processStartedAt) {}

  /** How many jobs a supervisor took from dead processes since it began: put back, and ended. */
  public record Recovered(Supervising by, long requeued, long ended) {}

  /** A supervisor, and how long ago it was last seen. */
  public record Known(Supervising supervising, Duration silentFor) {}

  public List<SupervisorHealth> all() {
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

  /** The supervisor of this name, if there is one, and how long ago it was last seen. */
  public Optional<Known> find(String name) {
    return database
        .run("health", connection -> Rows.list(connection, Supervisors::known, SUPERVISOR, name))
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

  /** Takes a name that is free. False when it is taken. */
  public boolean appear(Supervising self) {
    return update(APPEAR, self.name(), self.host(), self.pid(), self.processStartedAt()) > 0;
  }

  /** Takes the name from a process that is gone. False when another process took it first. */
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

  /** Extends the hold on the name. False when another process has taken it. */
  public boolean watching(Supervising self) {
    return by(WATCHING, self);
  }

  /** Gives the name back and deletes the rows of its processes. */
  public void leave(Supervising self) {
    if (by(LEAVE, self)) {
      processes.clear(self.name());
    }
  }

  private boolean by(String sql, Supervising self) {
    return update(sql, self.name(), self.host(), self.pid(), self.processStartedAt()) > 0;
  }

  private int update(String sql, @Nullable Object... values) {
    return database.run("health", connection -> Rows.update(connection, sql, values));
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
}
