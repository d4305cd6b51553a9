package dev.holdfast.queue.maintenance;

import dev.holdfast.model.job.JobState;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.Transition;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes RETRYING jobs claimable again once they have waited out their backoff. */
public final class Promote {
  private static final int BATCH = 1_000;
  private static final int BATCHES = 100;

  private static final Transition DUE = Transition.from(JobState.RETRYING).to(JobState.PENDING);

  private static final String SQL =
      """
      WITH due AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
         WHERE ${from} AND ${queue}
           AND j.run_at <= statement_timestamp()
         ORDER BY j.queue, j.run_at
         LIMIT :most
           FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE holdfast.job j
         SET ${set}
        FROM due
       WHERE j.id = due.id AND ${from}
      RETURNING j.queue
      """;
  private static final Sql OF_ALL = sql("true");
  private static final Sql OF_ONE = sql("j.queue = :queue");

  private static Sql sql(String queue) {
    return Sql.of(SQL, "from", DUE.isFrom("j"), "queue", queue, "set", DUE.set());
  }

  private Promote() {}

  /** The queue of each job that can be claimed now. */
  public static List<String> due(Database database, @Nullable String queue) {
    List<String> promoted = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      List<String> now = database.run("promote", connection -> due(connection, queue));
      promoted.addAll(now);
      if (now.size() < BATCH) {
        break;
      }
    }
    return promoted;
  }

  private static List<String> due(Connection connection, @Nullable String queue)
      throws SQLException {
    Sql.Call call =
        queue == null ? OF_ALL.on(connection) : OF_ONE.on(connection).set("queue", queue);
    return call.set("most", BATCH).list(row -> row.getString("queue"));
  }
}
