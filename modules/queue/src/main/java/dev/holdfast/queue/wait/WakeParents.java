package dev.holdfast.queue.wait;

import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Ends waits for jobs that have ended, after the commit of their ends.
 *
 * <p>A parent that waits is looked at without a lock: of several children that end at the same
 * time, the one that commits last sees all others ended. A parent that runs is locked, and looked
 * at again: it may be about to wait, and have looked before the commit.
 */
public final class WakeParents {
  private static final int BATCH = 1_000;

  /** A suspend is shorter. A handler that settles in its own transaction does not wait. */
  private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(1);

  private static final Sql CONCERNED =
      Sql.of(
          """
          SELECT p.id
            FROM (SELECT DISTINCT c.parent_id AS id FROM holdfast.job c
                   WHERE c.id = ANY (:ended::uuid[]) AND c.started_as IS NOT NULL) AS parent
            JOIN holdfast.job p ON p.id = parent.id
           WHERE p.state = 'RUNNING' OR (p.wait_sort = 'CHILDREN' AND ${outcome} IS NOT NULL)
           ORDER BY p.id
          """,
          "outcome",
          ChildrenSql.outcome("p.id", "p.wait"));

  private static final Sql MISSED = missed("true");
  private static final Sql MISSED_IN_QUEUE = missed("j.queue = :queue");

  private static final Sql LOCK = lock("");
  private static final Sql LOCK_FREE = lock("SKIP LOCKED");

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

  // A claim has passed over those that another process has woken, while their rows were locked
  // here.
  private static final Sql CLAIMABLE =
      Sql.of(
          """
          SELECT DISTINCT j.queue
            FROM holdfast.job j
           WHERE j.id = ANY (:jobs::uuid[]) AND j.state = 'PENDING'
          """);

  private static final String FAILED_FIRST = "a job that was started with it has not succeeded";

  private WakeParents() {}

  /**
   * What became of parents.
   *
   * @param queues those in which any can be claimed now
   * @param locked those whose rows another transaction held
   * @param ended jobs that they have started, and no longer wait for
   */
  public record Woken(List<String> queues, List<JobId> locked, List<JobId> ended) {
    static final Woken NONE = new Woken(List.of(), List.of(), List.of());
  }

  // Without a condition on the wait: a parent that is being suspended does not meet it yet, and
  // would
  // be passed over instead of waited for.
  private static Sql lock(String locked) {
    return Sql.of(
        """
        SELECT j.id FROM holdfast.job j
         WHERE j.id = ANY (:jobs::uuid[])
         ORDER BY j.id
           FOR NO KEY UPDATE ${locked}
        """,
        "locked",
        locked);
  }

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

  /** Wakes those that no longer wait, because the last of these has ended. */
  public static Woken ofEnded(Database database, List<JobId> ended) {
    List<JobId> concerned =
        database.run(
            "wakeParents",
            connection ->
                CONCERNED
                    .on(connection)
                    .array("ended", "uuid", ended, id -> id)
                    .list(row -> Rows.id(row, "id")));
    return wokenIfFree(database, concerned);
  }

  /**
   * Waits for the rows of these, each of which may be about to wait. Those that do not come free
   * are left to sweeps, and to claims that find nothing else.
   */
  public static Woken locked(Database database, List<JobId> parents) {
    try {
      return database.transactWithin(
          LOCK_TIMEOUT,
          "wakeParents",
          connection -> woken(connection, parents, locked(connection, LOCK, parents)));
    } catch (DatabaseException e) {
      if (e.getCause() instanceof SQLException cause && SqlErrors.isLockNotFree(cause)) {
        return wokenIfFree(database, parents);
      }
      throw e;
    }
  }

  /** Those that nobody has woken: a process died between the end of a job and this. */
  public static Woken missed(Database database, @Nullable String queue) {
    List<String> queues = new ArrayList<>();
    List<JobId> ended = new ArrayList<>();
    List<JobId> found;
    Woken woken;
    do {
      found = database.run("wakeMissed", connection -> missed(connection, queue));
      woken = wokenIfFree(database, found);
      queues.addAll(woken.queues());
      ended.addAll(woken.ended());
    } while (found.size() == BATCH && !woken.queues().isEmpty());
    return new Woken(queues, woken.locked(), ended);
  }

  private static List<JobId> missed(Connection connection, @Nullable String queue)
      throws SQLException {
    Sql.Call call =
        queue == null ? MISSED.on(connection) : MISSED_IN_QUEUE.on(connection).set("queue", queue);
    return call.set("most", BATCH).list(row -> Rows.id(row, "id"));
  }

  private static Woken wokenIfFree(Database database, List<JobId> parents) {
    return parents.isEmpty()
        ? Woken.NONE
        : database.transact(
            "wakeParents",
            connection -> woken(connection, parents, locked(connection, LOCK_FREE, parents)));
  }

  private static List<JobId> locked(Connection connection, Sql lock, List<JobId> parents)
      throws SQLException {
    return lock.on(connection)
        .array("jobs", "uuid", parents, id -> id)
        .list(row -> Rows.id(row, "id"));
  }

  private static Woken woken(Connection connection, List<JobId> parents, List<JobId> free)
      throws SQLException {
    List<JobId> locked =
        parents.stream().filter(Predicate.not(Set.copyOf(free)::contains)).toList();
    if (free.isEmpty()) {
      return new Woken(List.of(), locked, List.of());
    }
    List<JobId> ended = cancelInVain(connection, free);
    List<String> queues =
        WAKE.on(connection)
            .array("jobs", "uuid", free, id -> id)
            .list(row -> row.getString("queue"));
    if (queues.size() < free.size()) {
      queues =
          CLAIMABLE
              .on(connection)
              .array("jobs", "uuid", free, id -> id)
              .list(row -> row.getString("queue"));
    }
    return new Woken(queues, locked, ended);
  }

  private static List<JobId> cancelInVain(Connection connection, List<JobId> parents)
      throws SQLException {
    List<JobId> inVain =
        IN_VAIN
            .on(connection)
            .array("jobs", "uuid", parents, id -> id)
            .list(row -> Rows.id(row, "id"));
    return inVain.isEmpty()
        ? List.of()
        : Cancel.some(connection, inVain, true, FAILED_FIRST, Tenant.ANY).stream()
            .filter(each -> each.outcome() == Cancellation.Outcome.CANCELLED)
            .map(Cancellation::job)
            .toList();
  }
}
