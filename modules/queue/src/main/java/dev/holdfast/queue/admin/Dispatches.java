package dev.holdfast.queue.admin;

import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchError;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.ClaimDeliverySql;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Where queues are pushed to. */
public final class Dispatches {
  private static final String NO_ERROR =
      """
      dispatch_error = NULL, dispatch_error_detail = NULL, dispatch_circuit_open = NULL,
             dispatch_error_since = NULL
      """;

  private static final Sql SET =
      Sql.of(
          """
          INSERT INTO holdfast.queue (name, dispatch_url, dispatch_secret, dispatch_max_in_flight)
          VALUES (:queue, :url, :secret, :maxInFlight)
          ON CONFLICT (name) DO UPDATE
             SET dispatch_url = excluded.dispatch_url, dispatch_secret = excluded.dispatch_secret,
                 dispatch_max_in_flight = excluded.dispatch_max_in_flight,
                 ${works}
          """,
          "works",
          NO_ERROR);

  private static final Sql REMOVE =
      Sql.of(
          """
          UPDATE holdfast.queue
             SET dispatch_url = NULL, dispatch_secret = NULL, dispatch_max_in_flight = NULL,
                 ${works}
           WHERE name = :queue AND dispatch_url IS NOT NULL
          """,
          "works",
          NO_ERROR);

  private static final Sql LIST =
      Sql.of(
          """
          SELECT name, dispatch_url, dispatch_secret, dispatch_max_in_flight
            FROM holdfast.queue
           WHERE dispatch_url IS NOT NULL
           ORDER BY name
          """);

  // The time is kept for as long as no task gets through, whatever the reason.
  private static final Sql RECORD_ERROR =
      Sql.of(
          """
          UPDATE holdfast.queue
             SET dispatch_error = :kind, dispatch_error_detail = :cause, dispatch_circuit_open = :open,
                 dispatch_error_since = coalesce(dispatch_error_since, clock_timestamp())
           WHERE name = :queue AND dispatch_url IS NOT NULL
             AND (dispatch_error, dispatch_circuit_open)
                 IS DISTINCT FROM (:kind::text, :open::boolean)
          """);

  private static final Sql WORKS =
      Sql.of(
          """
          UPDATE holdfast.queue
             SET ${works}
           WHERE name = :queue AND dispatch_error IS NOT NULL
          """,
          "works",
          NO_ERROR);

  private static final Sql RUNNING =
      Sql.of(
          """
          SELECT count(*) AS running
            FROM holdfast.job
           WHERE queue = :queue AND state = 'RUNNING' AND worker_id = :worker
          """);

  private static final Sql CONFIRMED =
      Sql.of(
          """
          SELECT count(*) AS running
            FROM holdfast.job j
           WHERE j.queue = :queue AND j.state = 'RUNNING' AND j.worker_id = :worker
             AND NOT ${unconfirmed}
          """,
          "unconfirmed",
          ClaimDeliverySql.hasNoHeartbeat("j"));

  private Dispatches() {}

  public static long running(Connection connection, String queue, String worker)
      throws SQLException {
    return RUNNING
        .on(connection)
        .set("queue", queue)
        .set("worker", worker)
        .only(row -> row.getLong("running"));
  }

  /** Of these, the jobs of which a worker has reported the start. */
  public static long confirmed(Connection connection, String queue, String worker)
      throws SQLException {
    return CONFIRMED
        .on(connection)
        .set("queue", queue)
        .set("worker", worker)
        .only(row -> row.getLong("running"));
  }

  public static boolean set(Connection connection, Dispatch dispatch) throws SQLException {
    return SET.on(connection)
            .set("queue", dispatch.queue())
            .set("url", dispatch.url().toString())
            .set("secret", dispatch.secret())
            .set("maxInFlight", dispatch.maxInFlight())
            .update()
        > 0;
  }

  public static boolean remove(Connection connection, String queue) throws SQLException {
    return REMOVE.on(connection).set("queue", queue).update() > 0;
  }

  public static boolean recordError(
      Connection connection,
      String queue,
      DispatchError.Kind kind,
      String cause,
      boolean circuitOpen)
      throws SQLException {
    return RECORD_ERROR
            .on(connection)
            .set("queue", queue)
            .set("kind", kind.name())
            .set("cause", cause)
            .set("open", circuitOpen)
            .update()
        > 0;
  }

  public static boolean works(Connection connection, String queue) throws SQLException {
    return WORKS.on(connection).set("queue", queue).update() > 0;
  }

  public static List<Dispatch> list(Connection connection) throws SQLException {
    return LIST.on(connection)
        .list(
            row ->
                new Dispatch(
                    row.getString("name"),
                    URI.create(row.getString("dispatch_url")),
                    row.getString("dispatch_secret"),
                    row.getInt("dispatch_max_in_flight")));
  }
}
