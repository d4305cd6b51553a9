package dev.holdfast.queue;

import dev.holdfast.model.Dispatch;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Where queues are pushed to. */
final class Dispatches {
  private static final String SET =
      """
      INSERT INTO holdfast.queue (name, dispatch_url, dispatch_secret, dispatch_max_in_flight)
      VALUES (?, ?, ?, ?)
      ON CONFLICT (name) DO UPDATE
         SET dispatch_url = excluded.dispatch_url, dispatch_secret = excluded.dispatch_secret,
             dispatch_max_in_flight = excluded.dispatch_max_in_flight
      """;

  private static final String REMOVE =
      """
      UPDATE holdfast.queue
         SET dispatch_url = NULL, dispatch_secret = NULL, dispatch_max_in_flight = NULL
       WHERE name = ? AND dispatch_url IS NOT NULL
      """;

  private static final String LIST =
      """
      SELECT name, dispatch_url, dispatch_secret, dispatch_max_in_flight
        FROM holdfast.queue
       WHERE dispatch_url IS NOT NULL
       ORDER BY name
      """;

  private static final String RUNNING =
      """
      SELECT count(*) AS running
        FROM holdfast.job
       WHERE queue = ? AND state = 'RUNNING' AND worker_id = ?
      """;

  private Dispatches() {}

  static long running(Connection connection, String queue, String worker) throws SQLException {
    return Rows.list(connection, row -> row.getLong("running"), RUNNING, queue, worker).getFirst();
  }

  static boolean set(Connection connection, Dispatch dispatch) throws SQLException {
    return Rows.update(
            connection,
            SET,
            dispatch.queue(),
            dispatch.url().toString(),
            dispatch.secret(),
            dispatch.maxInFlight())
        > 0;
  }

  static boolean remove(Connection connection, String queue) throws SQLException {
    return Rows.update(connection, REMOVE, queue) > 0;
  }

  static List<Dispatch> list(Connection connection) throws SQLException {
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
