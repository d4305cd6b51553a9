package dev.holdfast.queue.health;

import dev.holdfast.model.ops.SupervisorHealth;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The supervisors: one row for each name, held by the process that took the name. A supervisor
 * writes only to a row that still names its process.
 */
public final class Supervisors {
  private static final String SELECT =
      "SELECT *, extract(epoch FROM clock_timestamp() - last_seen) * 1000 AS silent_ms"
          + " FROM holdfast.supervisor";

  private static final Sql ALL = Sql.of(SELECT + " ORDER BY name LIMIT 10000");

  private static final Sql ONE = Sql.of(SELECT + " WHERE name = :name");

  private static final Sql APPEAR =
      Sql.of(
          """
          INSERT INTO holdfast.supervisor (name, host, pid, process_started_at, last_seen)
          VALUES (:name, :host, :pid, :startedAt, clock_timestamp())
          ON CONFLICT (name) DO NOTHING
          """);

  private static final Sql REPLACE =
      Sql.of(
          """
          UPDATE holdfast.supervisor
             SET host = :newHost, pid = :newPid, process_started_at = :newStartedAt,
                 last_seen = clock_timestamp(), requeued_jobs = 0, ended_jobs = 0
           WHERE name = :name AND host = :host AND pid = :pid AND process_started_at = :startedAt
          """);

  private static final Sql WATCHING =
      Sql.of(
          """
          UPDATE holdfast.supervisor SET last_seen = clock_timestamp()
           WHERE name = :name AND host = :host AND pid = :pid AND process_started_at = :startedAt
          """);

  private static final Sql LEAVE =
      Sql.of(
          """
          DELETE FROM holdfast.supervisor
           WHERE name = :name AND host = :host AND pid = :pid AND process_started_at = :startedAt
          """);

  private final Database database;
  private final WorkerProcesses processes;

  Supervisors(Database database, WorkerProcesses processes) {
    this.database = database;
    this.processes = processes;
  }

  /** The process that goes by a supervisor's name. */
  public record Supervising(String name, String host, long pid, Instant processStartedAt) {}

  /** How many jobs a supervisor took from dead processes since it began: requeued, and ended. */
  public record Recovered(Supervising by, long requeued, long ended) {}

  /** A supervisor, and how long ago it was last seen. */
  public record Known(Supervising supervising, Duration silentFor) {}

  public List<SupervisorHealth> all() {
    return database.run(
        "health",
        connection ->
            ALL.on(connection)
                .list(
                    row ->
                        new SupervisorHealth(
                            row.getString("name"),
                            row.getString("host"),
                            Rows.instant(row, "last_seen"),
                            Objects.requireNonNull(Rows.millisOrNull(row, "silent_ms")))));
  }

  /** The supervisor of this name, if there is one, and how long ago it was last seen. */
  public Optional<Known> find(String name) {
    return database.run(
        "health", connection -> ONE.on(connection).set("name", name).first(Supervisors::known));
  }

  /** What each supervisor there is has recovered. */
  public List<Recovered> recovered() {
    return database.run(
        "health",
        connection ->
            ALL.on(connection)
                .list(
                    row ->
                        new Recovered(
                            supervising(row),
                            row.getLong("requeued_jobs"),
                            row.getLong("ended_jobs"))));
  }

  /** Takes a name that is free. False when it is taken. */
  public boolean appear(Supervising self) {
    return update(APPEAR, call -> by(self, call));
  }

  /** Takes the name from a process that is gone. False when another process took it first. */
  public boolean replace(Supervising gone, Supervising self) {
    return update(
        REPLACE,
        call ->
            by(gone, call)
                .set("newHost", self.host())
                .set("newPid", self.pid())
                .set("newStartedAt", self.processStartedAt()));
  }

  /** Extends the hold on the name. False when another process has taken it. */
  public boolean watching(Supervising self) {
    return update(WATCHING, call -> by(self, call));
  }

  /** Gives the name back and deletes the rows of its processes. */
  public void leave(Supervising self) {
    if (update(LEAVE, call -> by(self, call))) {
      processes.clear(self.name());
    }
  }

  private static Sql.Call by(Supervising self, Sql.Call call) {
    return call.set("name", self.name())
        .set("host", self.host())
        .set("pid", self.pid())
        .set("startedAt", self.processStartedAt());
  }

  /** Whether a row was written. */
  private boolean update(Sql sql, UnaryOperator<Sql.Call> bind) {
    return database.run("health", connection -> bind.apply(sql.on(connection)).update()) > 0;
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
