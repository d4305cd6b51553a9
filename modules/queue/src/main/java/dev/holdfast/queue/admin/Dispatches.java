package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchTrouble;
import dev.holdfast.queue.jdbc.Rows;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Where queues are pushed to. */
public final class Dispatches {
  private static final String SET =
      """
      INSERT INTO holdfast.queue (name, dispatch_url, dispatch_secret, dispatch_max_in_flight)
      VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE
         SET dispatch_url = excluded.dispatch_url, dispatch_secret = excluded.dispatch_secret,
             dispatch_max_in_flight = excluded.dispatch_max_in_flight,
             dispatch_trouble = NULL, dispatch_trouble_cause = NULL, dispatch_paused = NULL,
             dispatch_trouble_since = NULL
      """;

  private static final String REMOVE =
      """
      UPDATE holdfast.queue
         SET dispatch_url = NULL, dispatch_secret = NULL, dispatch_max_in_flight = NULL,
             dispatch_trouble = NULL, dispatch_trouble_cause = NULL, dispatch_paused = NULL,
             dispatch_trouble_since = NULL
       WHERE name = ? AND dispatch_url IS NOT NULL
      """;

  private static final String LIST =
      """
      SELECT name, dispatch_url, dispatch_secret, dispatch_max_in_flight
        FROM holdfast.queue
       WHERE dispatch_url IS NOT NULL
       ORDER BY name
      """;

  // Since when is kept for as long as nothing gets through, whatever the reason.
  private static final String TROUBLE =
      """
      UPDATE holdfast.queue
         SET dispatch_trouble = ?, dispatch_trouble_cause = ?, dispatch_paused = ?,
             dispatch_trouble_since = coalesce(dispatch_trouble_since, clock_timestamp())
       WHERE name = ? AND dispatch_url IS NOT NULL
         AND (dispatch_trouble, dispatch_paused) IS DISTINCT FROM (?::text, ?::boolean)
      """;

  private static final String WORKS =
      """
      UPDATE holdfast.queue
         SET dispatch_trouble = NULL, dispatch_trouble_cause = NULL, dispatch_paused = NULL,
             dispatch_trouble_since = NULL
       WHERE name = ? AND dispatch_trouble IS NOT NULL
      """;

  private static final String RUNNING =
      """
      SELECT count(*) AS running
        FROM holdfast.job
       WHERE queue = ? AND state = 'RUNNING' AND worker_id = ?
      """;

  private Dispatches() {}

  public static long running(Connection connection, String queue, String worker)
      throws SQLException {
    return Rows.list(connection, row -> row.getLong("running"), RUNNING, queue, worker).getFirst();
  }

  public static boolean set(Connection connection, Dispatch dispatch) throws SQLException {
    return Rows.update(
            connection,
            SET,
            dispatch.queue(),
            dispatch.url().toString(),
            dispatch.secret(),
            dispatch.maxInFlight())
        > 0;
  }

  public static boolean remove(Connection connection, String queue) throws SQLException {
    return Rows.update(connection, REMOVE, queue) > 0;
  }

  public static boolean trouble(
      Connection connection, String queue, DispatchTrouble.Kind kind, String cause, boolean paused)
      throws SQLException {
    return Rows.update(connection, TROUBLE, kind.name(), cause, paused, queue, kind.name(), paused)
        > 0;
  }

  public static boolean works(Connection connection, String queue) throws SQLException {
    return Rows.update(connection, WORKS, queue) > 0;
  }

  public static List<Dispatch> list(Connection connection) throws SQLException {
    return Rows.list(
        connection,
        row ->
            new Dispatch(
                row.getString("name"),
                URI.create(row.getString("dispatch_url")),
                row.getString("dispatch_secret"),
                row.getInt("dispatch_max_in_flight")),
        LIST);
  }
}
