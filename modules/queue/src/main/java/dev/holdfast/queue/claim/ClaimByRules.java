package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Claims from a queue that has a concurrency or rate limit, jobs with concurrency keys, or
 * suspects.
 *
 * <p>Counting and claiming must be one step for all workers, or two of them count the same place
 * below the limit as theirs. Claims of such a queue therefore take turns by an advisory lock, and
 * count in a statement of its own once they have it: the statement that waits for a lock has a
 * snapshot from before the wait.
 */
final class ClaimByRules {
  private static final Sql TURN =
      Sql.of("SELECT pg_advisory_xact_lock(hashtext('holdfast.claim'), hashtext(:queue))");

  /** A concurrency key belongs to its tenant: two of them that choose the same do not meet. */
  private record Key(String tenant, String key) {
    static final Key FIRST = new Key("", "");

    static Key read(ResultSet row) throws SQLException {
      return new Key(row.getString("tenant"), row.getString("key"));
    }
  }

  // The keys are found by hopping from one to the next along the index, so that a key with a
  // million jobs costs one hop. That they are not null is said for the planner alone: the index
  // has only such, and the planner does not conclude that from a comparison of rows.
  private static final Sql KEYS =
      Sql.of(
          """
          WITH RECURSIVE hop(key, tenant, n) AS (
            (SELECT j.concurrency_key, j.tenant, 1
               FROM holdfast.job j
              WHERE j.queue = :queue AND ${keyed}
                AND (j.concurrency_key, j.tenant) > (:afterKey, :afterTenant)
              ORDER BY j.concurrency_key, j.tenant LIMIT 1)
            UNION ALL
            SELECT next.concurrency_key, next.tenant, hop.n + 1
              FROM hop
             CROSS JOIN LATERAL (
               SELECT j.concurrency_key, j.tenant
                 FROM holdfast.job j
                WHERE j.queue = :queue AND ${keyed}
                  AND (j.concurrency_key, j.tenant) > (hop.key, hop.tenant)
                ORDER BY j.concurrency_key, j.tenant LIMIT 1) AS next
             WHERE hop.n < :most
          )
          SELECT key, tenant FROM hop ORDER BY n
          """,
          "keyed",
          ClaimableSql.isKeyed("j"));

  private static final String ROOM =
      Sql.fragment(
          """
          WITH room AS MATERIALIZED (
            SELECT CASE WHEN ${paused} THEN 0 ELSE
                   least(:most, (SELECT CASE
                               WHEN q.max_running IS NOT NULL THEN q.max_running
                                 - (SELECT count(*) FROM holdfast.job r
                                     WHERE r.queue = q.name AND r.state = 'RUNNING') END
                               FROM holdfast.queue q WHERE q.name = :queue)) END AS places
          )
          """,
          "paused",
          ClaimableSql.isPaused(":queue"));

  // A concurrency key limits a suspect as it limits any other job.
  private static final String DUE_SUSPECT =
      Sql.fragment(
          """
          j.queue = :queue AND ${suspect} AND ${tenant}
          AND j.run_at <= statement_timestamp()
          AND (j.concurrency_key IS NULL OR j.concurrency_limit > (
                 SELECT count(*) FROM holdfast.job r
                  WHERE r.queue = j.queue AND r.state = 'RUNNING'
                    AND r.concurrency_key = j.concurrency_key AND r.tenant = j.tenant))
          """,
          "suspect",
          ClaimableSql.isSuspect("j"),
          "tenant",
          TenantSql.isOf("j"));

  // A suspect is given only to a worker that runs no other job, and that worker is reserved until
  // the suspect has ended. On a busy queue no worker would ever be empty: so while a suspect waits,
  // the worker with the fewest jobs is next, and claims no more until it is empty.
  private static final Sql CHECK_SUSPECTS =
      Sql.of(
          """
          SELECT ${reserved} AS worker_is_reserved,
                 suspect.id IS NOT NULL AS suspect_waits,
                 suspect.id IS NOT NULL AND (
                   SELECT r.worker_id FROM holdfast.job r
                    WHERE r.state = 'RUNNING' AND r.worker_id = :worker LIMIT 1) IS NULL
                   AS worker_is_empty,
                 suspect.id IS NOT NULL AND :worker = (
                   SELECT r.worker_id FROM holdfast.job r
                    WHERE r.queue = suspect.queue AND r.state = 'RUNNING'
                      AND NOT r.isolated
                    GROUP BY r.worker_id ORDER BY count(*), r.worker_id LIMIT 1)
                   AS worker_is_next
            FROM (SELECT 1) AS one
            LEFT JOIN LATERAL (
              SELECT j.id, j.queue FROM holdfast.job j
               WHERE ${due}
               ORDER BY j.priority, j.run_at, j.id
               LIMIT 1) AS suspect ON true
          """,
          "reserved",
          ClaimableSql.WORKER_IS_RESERVED,
          "due",
          DUE_SUSPECT);

  private static final TakeSql TAKE_SUSPECT =
      TakeSql.of(
          Sql.fragment(
              """
              ${room}, picked AS MATERIALIZED (
                SELECT j.ctid FROM holdfast.job j
                 WHERE ${due}
                   AND (SELECT places FROM room) > 0
                 ORDER BY j.priority, j.run_at, j.id
                 LIMIT 1
                   FOR NO KEY UPDATE SKIP LOCKED
              )
              """,
              "room",
              ROOM,
              "due",
              DUE_SUSPECT));

  private static final TakeSql TAKE_WITHIN_RULES =
      TakeSql.of(
          Sql.fragment(
              """
              ${room}, keyed AS MATERIALIZED (
                SELECT hop.key, hop.tenant,
                       coalesce((SELECT j.concurrency_limit FROM holdfast.job j
                                  WHERE j.queue = :queue AND j.state = 'PENDING'
                                    AND j.concurrency_key = hop.key AND j.tenant = hop.tenant
                                  ORDER BY j.priority, j.run_at, j.id LIMIT 1), 0)
                       - (SELECT count(*) FROM holdfast.job r
                           WHERE r.queue = :queue AND r.state = 'RUNNING'
                             AND r.concurrency_key = hop.key AND r.tenant = hop.tenant) AS places
                  FROM unnest(:keys::text[], :keyTenants::text[]) AS hop(key, tenant)
              ), without_rules AS MATERIALIZED (
                SELECT pick.*
                  FROM generate_series(0, 9) AS lane(priority)
                 CROSS JOIN LATERAL (
                   SELECT j.ctid, j.priority, j.run_at, j.id
                     FROM holdfast.job j
                    WHERE j.queue = :queue AND j.priority = lane.priority
                      AND ${withoutRules} AND ${tenant} AND ${inNoBatch}
                      AND j.run_at <= statement_timestamp()
                    ORDER BY j.run_at, j.id
                    LIMIT :most
                      FOR NO KEY UPDATE SKIP LOCKED) AS pick
                 LIMIT greatest(0, (SELECT places FROM room))
              ), within_keys AS MATERIALIZED (
                SELECT pick.*
                  FROM keyed
                 CROSS JOIN LATERAL (
                   SELECT j.ctid, j.priority, j.run_at, j.id
                     FROM holdfast.job j
                    WHERE j.queue = :queue AND j.concurrency_key = keyed.key
                      AND j.tenant = keyed.tenant
                      AND j.state = 'PENDING' AND NOT j.isolated AND ${tenant}
                      AND j.run_at <= statement_timestamp()
                    ORDER BY j.priority, j.run_at, j.id
                    LIMIT greatest(0, least(keyed.places, (SELECT places FROM room)))
                      FOR NO KEY UPDATE SKIP LOCKED) AS pick
              ), picked AS MATERIALIZED (
                SELECT both_kinds.ctid
                  FROM (SELECT * FROM without_rules
                        UNION ALL
                        SELECT * FROM within_keys) AS both_kinds
                 ORDER BY both_kinds.priority, both_kinds.run_at, both_kinds.id
                 LIMIT greatest(0, (SELECT places FROM room))
              )
              """,
              "room",
              ROOM,
              "withoutRules",
              ClaimableSql.isWithoutRules("j"),
              "inNoBatch",
              BatchSql.isInNoBatch("j"),
              "tenant",
              TenantSql.isOf("j")));

  private static final int KEYS_A_PAGE = 200;

  /** Bounds the time the turn is held; the next claim goes on where this one stopped. */
  private static final int PAGES_A_CLAIM = 10;

  private final Map<String, Key> lastKey = new ConcurrentHashMap<>();
  private final int keysAPage;

  ClaimByRules() {
    this(KEYS_A_PAGE);
  }

  ClaimByRules(int keysAPage) {
    this.keysAPage = keysAPage;
  }

  /**
   * @param whenEmpty a suspect waits until the worker is empty
   */
  record Turn(List<LeasedJob> jobs, boolean whenEmpty) {
    static final Turn NOTHING = new Turn(List.of(), false);
  }

  Turn take(Connection connection, ClaimRequest request) throws SQLException {
    String queue = request.queue();
    TURN.on(connection).set("queue", queue).list(row -> true);
    int allowed = RateTokens.allows(connection, queue, request.most());
    if (allowed == 0) {
      return Turn.NOTHING;
    }
    SuspectCheck check = SuspectCheck.of(connection, request);
    if (check.workerIsReserved()) {
      return Turn.NOTHING;
    }
    List<LeasedJob> jobs =
        check.suspectWaits() && check.workerIsEmpty()
            ? takeSuspect(connection, request)
            : List.of();
    if (jobs.isEmpty() && check.workerIsNext()) {
      return new Turn(List.of(), true);
    }
    if (jobs.isEmpty()) {
      jobs = takeWithinRules(connection, request, allowed);
    }
    RateTokens.spend(connection, queue, jobs.size());
    return new Turn(jobs, false);
  }

  /**
   * @param workerIsReserved the worker runs a suspect
   * @param suspectWaits a suspect of the queue is due
   * @param workerIsEmpty a suspect is due and the worker runs no job
   * @param workerIsNext a suspect is due and of all busy workers this one has the fewest jobs
   */
  private record SuspectCheck(
      boolean workerIsReserved, boolean suspectWaits, boolean workerIsEmpty, boolean workerIsNext) {
    static SuspectCheck of(Connection connection, ClaimRequest request) throws SQLException {
      return CHECK_SUSPECTS
          .on(connection)
          .set("queue", request.queue())
          .set("worker", request.worker())
          .tenant(request.tenant())
          .only(
              row ->
                  new SuspectCheck(
                      row.getBoolean("worker_is_reserved"),
                      row.getBoolean("suspect_waits"),
                      row.getBoolean("worker_is_empty"),
                      row.getBoolean("worker_is_next")));
    }
  }

  private static List<LeasedJob> takeSuspect(Connection connection, ClaimRequest request)
      throws SQLException {
    return Claim.inOrder(
        request
            .bind(TAKE_SUSPECT.reading(request.payloads()).on(connection))
            .set("most", 1)
            .list(Claim.Taken::read));
  }

  private List<LeasedJob> takeWithinRules(Connection connection, ClaimRequest request, int most)
      throws SQLException {
    String queue = request.queue();
    Key from = lastKey.getOrDefault(queue, Key.FIRST);
    boolean fromTheFirst = from.equals(Key.FIRST);
    List<Claim.Taken> taken = List.of();
    for (int page = 0; page < PAGES_A_CLAIM && taken.isEmpty(); page++) {
      List<Key> keys =
          KEYS.on(connection)
              .set("queue", queue)
              .set("afterKey", from.key())
              .set("afterTenant", from.tenant())
              .set("most", keysAPage)
              .list(Key::read);
      taken =
          request
              .bind(TAKE_WITHIN_RULES.reading(request.payloads()).on(connection))
              .set("most", most)
              .array("keys", "text", keys, Key::key)
              .array("keyTenants", "text", keys, Key::tenant)
              .list(Claim.Taken::read);
      if (keys.size() == keysAPage) {
        from = keys.getLast();
      } else {
        from = Key.FIRST;
        if (fromTheFirst) {
          break;
        }
        fromTheFirst = true;
      }
    }
    lastKey.put(queue, from);
    return Claim.inOrder(taken);
  }
}
