package dev.holdfast.queue.wait;

import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends waits for jobs that have ended, after the commit of their ends.
 *
 * <p>A parent that waits is looked at without a lock: of several children that end at the same
 * time, the one that commits last sees all others ended. A parent that does not wait is locked, and
 * looked at again: it may be about to wait, and have looked before the commit.
 */
public final class WakeParents {
  private static final int BATCH = 1_000;

  private static final Sql CONCERNED =
      Sql.of(
          """
          SELECT p.id
            FROM (SELECT DISTINCT c.parent_id AS id FROM holdfast.job c
                   WHERE c.id = ANY (:ended::uuid[]) AND c.started_as IS NOT NULL) AS parent
            JOIN holdfast.job p ON p.id = parent.id
           WHERE p.finished_at IS NULL
             AND (p.wait_sort IS DISTINCT FROM 'CHILDREN' OR ${outcome} IS NOT NULL)
           ORDER BY p.id
          """,
          "outcome",
          ChildrenSql.outcome("p.id", "p.wait"));

  private static final Sql MISSED = missed("true");
  private static final Sql MISSED_IN_QUEUE = missed("j.queue = :queue");

  private static final Sql LOCK =
      Sql.of(
          """
          SELECT j.id FROM holdfast.job j
           WHERE j.id = ANY (:jobs::uuid[]) AND j.wait_sort = 'CHILDREN'
           ORDER BY j.id
             FOR NO KEY UPDATE
          """);

  // What is no longer waited for is cancelled with the end of the wait.
  private static final Sql IN_VAIN =
      Sql.of(
          """
          SELECT c.id
            FROM holdfast.job j
            JOIN holdfast.job c
              ON c.parent_id = j.id AND c.started_as IS NOT NULL AND c.finished_at IS NULL
             AND c.started_as = ANY (ARRAY(SELECT jsonb_array_elements_text(j.wait -> 'started')))
           WHERE j.id = ANY (:jobs::uuid[]) AND (j.wait -> 'failFast')::bool
             AND ${outcome} ->> 'outcome' = 'FAILED'
          """,
          "outcome",
          ChildrenSql.outcome("j.id", "j.wait"));

  private static final Sql WAKE =
      WakeSql.of(
          Sql.fragment(
              """
              WITH over AS MATERIALIZED (
                SELECT * FROM (
                  SELECT j.id, j.wait, NULL::timestamptz AS run_at, ${outcome} AS ended,
                         NULL::jsonb AS payload
                    FROM holdfast.job j
                   WHERE j.id = ANY (:jobs::uuid[]) AND ${waiting}) AS seen
                 WHERE ended IS NOT NULL
              )
              """,
              "outcome",
              ChildrenSql.outcome("j.id", "j.wait"),
              "waiting",
              WakeSql.IS_WAITING));

  private static final String FAILED_FIRST = "a job that was started with it has not succeeded";

  private WakeParents() {}

  private static Sql missed(String queue) {
    return Sql.of(
        """
        SELECT j.id
          FROM holdfast.job j
         WHERE j.state = 'WAITING' AND j.wait_sort = 'CHILDREN' AND ${queue}
           AND ${outcome} IS NOT NULL
         LIMIT :most
        """,
        "queue",
        queue,
        "outcome",
        ChildrenSql.outcome("j.id", "j.wait"));
  }

  /** The queue of each job that can be claimed now, because the last of these has ended. */
  public static List<String> ofEnded(Database database, List<JobId> ended) {
    List<JobId> concerned =
        database.run(
            "wakeParents",
            connection ->
                CONCERNED
                    .on(connection)
                    .array("ended", "uuid", ended, id -> id)
                    .list(row -> Rows.id(row, "id")));
    return woken(database, concerned);
  }

  /** Those that nobody has woken: a process died between the end of a job and this. */
  public static List<String> missed(Database database, @Nullable String queue) {
    List<String> woken = new ArrayList<>();
    List<JobId> found;
    do {
      found = database.run("wakeMissed", connection -> missed(connection, queue));
      woken.addAll(woken(database, found));
    } while (found.size() == BATCH);
    return woken;
  }

  private static List<JobId> missed(Connection connection, @Nullable String queue)
      throws SQLException {
    Sql.Call call =
        queue == null ? MISSED.on(connection) : MISSED_IN_QUEUE.on(connection).set("queue", queue);
    return call.set("most", BATCH).list(row -> Rows.id(row, "id"));
  }

  private static List<String> woken(Database database, List<JobId> parents) {
    return parents.isEmpty()
        ? List.of()
        : database.transact("wakeParents", connection -> woken(connection, parents));
  }

  private static List<String> woken(Connection connection, List<JobId> parents)
      throws SQLException {
    List<JobId> waiting =
        LOCK.on(connection)
            .array("jobs", "uuid", parents, id -> id)
            .list(row -> Rows.id(row, "id"));
    if (waiting.isEmpty()) {
      return List.of();
    }
    List<JobId> inVain =
        IN_VAIN
            .on(connection)
            .array("jobs", "uuid", waiting, id -> id)
            .list(row -> Rows.id(row, "id"));
    if (!inVain.isEmpty()) {
      MaterializedJobs.changing(
          connection,
          in -> Cancel.lock(in, inVain, true, Tenant.ANY),
          in -> Cancel.of(in, inVain, true, FAILED_FIRST, Tenant.ANY));
    }
    return WAKE.on(connection)
        .array("jobs", "uuid", waiting, id -> id)
        .list(row -> row.getString("queue"));
  }
}
