package dev.holdfast.queue.health;

import dev.holdfast.model.value.Json;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import java.util.List;

/** What each server counts, so that every server can show the sum over all of them. */
public final class ServerFigures {
  private static final int MOST = 1_000;

  /**
   * @param isSilent whether the server has not reported for half a minute
   */
  public record Figures(String server, Json figures, boolean isSilent) {}

  private static final Sql WRITE =
      Sql.of(
          """
          WITH old AS (
            DELETE FROM holdfast.server_metrics
             WHERE last_seen < clock_timestamp() - interval '7 days' AND server <> :server
          )
          INSERT INTO holdfast.server_metrics AS m (server, last_seen, figures)
          VALUES (:server, clock_timestamp(), :figures::jsonb)
          ON CONFLICT (server) DO UPDATE
             SET last_seen = excluded.last_seen, figures = excluded.figures
          """);

  private static final Sql ALL =
      Sql.of(
          """
          SELECT server, figures, last_seen < clock_timestamp() - interval '30 seconds' AS silent
            FROM holdfast.server_metrics
           ORDER BY last_seen DESC
           LIMIT :most
          """);

  private final Database database;

  ServerFigures(Database database) {
    this.database = database;
  }

  /**
   * @param server another name for each start, because a server counts from 0
   */
  public void write(String server, Json figures) {
    database.run(
        "serverFigures",
        connection -> WRITE.on(connection).set("server", server).set("figures", figures).update());
  }

  /** Of all servers of the last week. */
  public List<Figures> all() {
    return database.run(
        "serverFigures",
        connection ->
            ALL.on(connection)
                .set("most", MOST)
                .list(
                    row ->
                        new Figures(
                            row.getString("server"),
                            new Json(row.getString("figures")),
                            row.getBoolean("silent"))));
  }
}
