package dev.holdfast.queue.health;

import dev.holdfast.model.ops.HealthStatus;
import dev.holdfast.model.ops.ProcessExit;
import dev.holdfast.model.ops.WorkerExit;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How the processes of a worker ended, as {@link WorkerProcesses#ended} wrote it. */
public final class WorkerExits {
  public static final int MOST = 200;

  private static final Sql OF_WORKER =
      Sql.of(
          """
          SELECT * FROM holdfast.worker_exit
           WHERE component = :component AND (:supervisor::text IS NULL OR supervisor = :supervisor)
           ORDER BY id DESC
           LIMIT :most
          """);

  private final Database database;

  WorkerExits(Database database) {
    this.database = database;
  }

  /**
   * The latest first.
   *
   * @param supervisor null for all that have such a component
   */
  public List<ProcessExit> of(String component, @Nullable String supervisor) {
    return database.run(
        "health",
        connection ->
            OF_WORKER
                .on(connection)
                .set("component", component)
                .set("supervisor", supervisor)
                .set("most", MOST)
                .list(WorkerExits::read));
  }

  private static ProcessExit read(ResultSet row) throws SQLException {
    Integer code = Rows.intOrNull(row, "exit_code");
    return new ProcessExit(
        row.getString("supervisor"),
        row.getObject("pid", Long.class),
        Rows.instantOrNull(row, "started_at"),
        Rows.instant(row, "ended_at"),
        HealthStatus.of(row.getString("status")),
        code == null ? null : WorkerExit.of(code),
        row.getString("reason"));
  }
}
