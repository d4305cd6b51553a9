package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.jdbc.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Claims from a queue that has a concurrency or rate limit, or jobs with concurrency keys.
 *
 * <p>Counting and claiming must be one step for all workers, or two of them see the same free
 * place. Claims of such a queue therefore take turns by an advisory lock, and count in a statement
 * of its own after they have it: the statement that waits for a lock still sees the past.
 */
public final class ClaimByRules {
  private static final String TURN =
      "SELECT pg_advisory_xact_lock(hashtext('holdfast.claim'), hashtext(?))";

  /** A concurrency key belongs to its tenant: two of them that choose the same do not meet. */
  private record Key(String tenant, String key) {
    static final Key FIRST = new Key("", "");

    static Key read(ResultSet row) throws SQLException {
      return new Key(row.getString("tenant"), row.getString("key"));
    }
  }

  // The keys are found by hopping from one to the next along the index, so that a key with a
  // million jobs costs one hop. That they are not null is said for the planner alone: the index
  // has only such, and it does not conclude that from a comparison of rows.
  private static final String KEYS =
      """
      WITH RECURSIVE hop(key, tenant, n) AS (
        (SELECT j.concurrency_key, j.tenant, 1
           FROM holdfast.job j
          WHERE j.queue = ? AND j.state = 'PENDING' AND j.concurrency_key IS NOT NULL
            AND (j.concurrency_key, j.tenant) > (?, ?)
          ORDER BY j.concurrency_key, j.tenant LIMIT 1)
        UNION ALL
        SELECT next.concurrency_key, next.tenant, hop.n + 1
          FROM hop
         CROSS JOIN LATERAL (
           SELECT j.concurrency_key, j.tenant
             FROM holdfast.job j
            WHERE j.queue = ? AND j.state = 'PENDING' AND j.concurrency_key IS NOT NULL
              AND (j.concurrency_key, j.tenant) > (hop.key, hop.tenant)
            ORDER BY j.concurrency_key, j.tenant LIMIT 1) AS next
         WHERE hop.n < ?
      )
      SELECT key, tenant FROM hop ORDER BY n
      """;

  private static final String ROOM =
      """
      WITH room AS MATERIALIZED (
        SELECT CASE WHEN %s THEN 0 ELSE
               least(?, (SELECT CASE
                           WHEN q.max_running IS NOT NULL THEN q.max_running
                             - (SELECT count(*) FROM holdfast.job r
                                 WHERE r.queue = q.name AND r.state = 'RUNNING') END
                           FROM holdfast.queue q WHERE q.name = ?)) END AS places
      )
      """
          .formatted(Queues.isPaused("?"));

  // A key of its own holds for it as for all others.
  private static final String DUE_SUSPECT =
      """
      j.queue = ? AND j.state = 'PENDING' AND j.alone
      AND j.run_at <= statement_timestamp() AND (? = '' OR j.tenant = ?)
      AND (j.concurrency_key = '%s' OR j.concurrency_limit > (
             SELECT count(*) FROM holdfast.job r
              WHERE r.queue = j.queue AND r.state = 'RUNNING'
                AND r.concurrency_key = j.concurrency_key AND r.tenant = j.tenant))
      """
          .formatted(Retry.SUSPECT_KEY);

  // A suspect of crashes (see Reap) is given only to a worker that has nothing else, and that gets
  // nothing else until the suspect is done. So that a busy queue comes to it at all, the worker
  // with the fewest jobs takes no more of them while a suspect waits; no other worker stands still.
  private static final String SUSPECT =
      """
      SELECT (SELECT a.worker_id FROM holdfast.job a
               WHERE a.worker_id = worker.id AND a.state = 'RUNNING' AND a.alone
               ORDER BY a.worker_id LIMIT 1) IS NOT NULL AS taken,
             suspect.id IS NOT NULL AS waits,
             suspect.id IS NOT NULL AND (
               SELECT r.worker_id FROM holdfast.job r
                WHERE r.state = 'RUNNING' AND r.worker_id = worker.id LIMIT 1) IS NULL AS empty,
             suspect.id IS NOT NULL AND worker.id = (
               SELECT r.worker_id FROM holdfast.job r
                WHERE r.queue = suspect.queue AND r.state = 'RUNNING'
                  AND NOT r.alone
                GROUP BY r.worker_id ORDER BY count(*), r.worker_id LIMIT 1) AS next
        FROM (SELECT ?::text AS id) AS worker
        LEFT JOIN LATERAL (
          SELECT j.id, j.queue FROM holdfast.job j
           WHERE %s
           ORDER BY j.priority, j.run_at, j.id
           LIMIT 1) AS suspect ON true
      """
          .formatted(DUE_SUSPECT);

  private static final String ALONE =
      ROOM
          + """
      , picked AS MATERIALIZED (
        SELECT j.ctid FROM holdfast.job j
         WHERE %s
           AND (SELECT places FROM room) > 0
         ORDER BY j.priority, j.run_at, j.id
         LIMIT 1
           FOR NO KEY UPDATE SKIP LOCKED
      )
      """
              .formatted(DUE_SUSPECT);

  private static final String PICK =
      ROOM
          + """
      , keyed AS MATERIALIZED (
        SELECT hop.key, hop.tenant,
               coalesce((SELECT j.concurrency_limit FROM holdfast.job j
                          WHERE j.queue = ? AND j.state = 'PENDING'
                            AND j.concurrency_key = hop.key AND j.tenant = hop.tenant
                          ORDER BY j.priority, j.run_at, j.id LIMIT 1), 0)
               - (SELECT count(*) FROM holdfast.job r
                   WHERE r.queue = ? AND r.state = 'RUNNING'
                     AND r.concurrency_key = hop.key AND r.tenant = hop.tenant) AS places
          FROM unnest(?::text[], ?::text[]) AS hop(key, tenant)
      ), free AS MATERIALIZED (
        SELECT pick.*
          FROM generate_series(0, 9) AS lane(priority)
         CROSS JOIN LATERAL (
           SELECT j.ctid, j.priority, j.run_at, j.id
             FROM holdfast.job j
            WHERE j.queue = ? AND j.priority = lane.priority
              AND j.state = 'PENDING' AND j.concurrency_key IS NULL
              AND j.run_at <= statement_timestamp()
              AND (? = '' OR j.tenant = ?)
            ORDER BY j.run_at, j.id
            LIMIT ?
              FOR NO KEY UPDATE SKIP LOCKED) AS pick
         LIMIT greatest(0, (SELECT places FROM room))
      ), within_keys AS MATERIALIZED (
        SELECT pick.*
          FROM keyed
         CROSS JOIN LATERAL (
           SELECT j.ctid, j.priority, j.run_at, j.id
             FROM holdfast.job j
            WHERE j.queue = ? AND j.concurrency_key = keyed.key AND j.tenant = keyed.tenant
              AND j.state = 'PENDING' AND NOT j.alone
              AND j.run_at <= statement_timestamp()
              AND (? = '' OR j.tenant = ?)
            ORDER BY j.priority, j.run_at, j.id
            LIMIT greatest(0, least(keyed.places, (SELECT places FROM room)))
              FOR NO KEY UPDATE SKIP LOCKED) AS pick
      ), picked AS MATERIALIZED (
        SELECT both_kinds.ctid
          FROM (SELECT * FROM free UNION ALL SELECT * FROM within_keys) AS both_kinds
         ORDER BY both_kinds.priority, both_kinds.run_at, both_kinds.id
         LIMIT greatest(0, (SELECT places FROM room))
      )
      """;

  private static final int KEYS_A_PAGE = 200;

  /** Bounds the time the turn is held; the next claim goes on where this one stopped. */
  private static final int PAGES_A_CLAIM = 10;

  private final Map<String, Key> lastKey = new ConcurrentHashMap<>();
  private final int keysAPage;

  public ClaimByRules() {
    this(KEYS_A_PAGE);
  }

  public ClaimByRules(int keysAPage) {
    this.keysAPage = keysAPage;
  }

  /** What a turn brought, or that a suspect waits for the worker to have nothing else. */
  record Turn(List<LeasedJob> jobs, boolean whenEmpty) {
    static final Turn NOTHING = new Turn(List.of(), false);
  }

  /**
   * @param write what is written and read of the jobs: {@link Claim#TAKE}, or the same unread
   */
  public Turn take(
      Connection connection,
      String queue,
      int most,
      String worker,
      Duration lease,
      @Nullable String tenant,
      String write)
      throws SQLException {
    Rows.list(connection, row -> "", TURN, queue);
    int allowed = RateLimit.allows(connection, queue, most);
    if (allowed == 0) {
      return Turn.NOTHING;
    }
    Suspect suspect = Suspect.look(connection, queue, worker, tenant);
    if (suspect.taken()) {
      return Turn.NOTHING;
    }
    List<LeasedJob> taken =
        suspect.waits() && suspect.empty()
            ? takeAlone(connection, queue, worker, lease, tenant, write)
            : List.of();
    if (taken.isEmpty() && suspect.next()) {
      return new Turn(List.of(), true);
    }
    if (taken.isEmpty()) {
      taken = takeTurn(connection, queue, allowed, worker, lease, tenant, write);
    }
    RateLimit.spend(connection, queue, taken.size());
    return new Turn(taken, false);
  }

  /**
   * @param taken the worker runs one already
   * @param waits one is due
   * @param empty the worker has no job at all
   * @param next of all busy workers this one has the fewest
   */
  private record Suspect(boolean taken, boolean waits, boolean empty, boolean next) {
    static Suspect look(Connection connection, String queue, String worker, @Nullable String tenant)
        throws SQLException {
      return Rows.list(
              connection,
              row ->
                  new Suspect(
                      row.getBoolean("taken"),
                      row.getBoolean("waits"),
                      row.getBoolean("empty"),
                      row.getBoolean("next")),
              SUSPECT,
              worker,
              queue,
              Claim.named(tenant),
              Claim.named(tenant))
          .getFirst();
    }
  }

  private static List<LeasedJob> takeAlone(
      Connection connection,
      String queue,
      String worker,
      Duration lease,
      @Nullable String tenant,
      String write)
      throws SQLException {
    return Claim.inOrder(
        Rows.list(
            connection,
            Claim.Taken::read,
            ALONE + write,
            queue,
            1,
            queue,
            queue,
            Claim.named(tenant),
            Claim.named(tenant),
            worker,
            lease));
  }

  private List<LeasedJob> takeTurn(
      Connection connection,
      String queue,
      int most,
      String worker,
      Duration lease,
      @Nullable String tenant,
      String write)
      throws SQLException {
    Key from = lastKey.getOrDefault(queue, Key.FIRST);
    boolean fromTheFirst = from.equals(Key.FIRST);
    List<Claim.Taken> taken = List.of();
    for (int page = 0; page < PAGES_A_CLAIM && taken.isEmpty(); page++) {
      List<Key> keys =
          Rows.list(
              connection, Key::read, KEYS, queue, from.key(), from.tenant(), queue, keysAPage);
      taken = take(connection, queue, keys, most, worker, lease, tenant, write);
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

  private static List<Claim.Taken> take(
      Connection connection,
      String queue,
      List<Key> keys,
      int most,
      String worker,
      Duration lease,
      @Nullable String tenant,
      String write)
      throws SQLException {
    return Rows.list(
        connection,
        Claim.Taken::read,
        PICK + write,
        queue,
        most,
        queue,
        queue,
        queue,
        Rows.array(connection, "text", keys, Key::key),
        Rows.array(connection, "text", keys, Key::tenant),
        queue,
        Claim.named(tenant),
        Claim.named(tenant),
        most,
        queue,
        Claim.named(tenant),
        Claim.named(tenant),
        worker,
        lease);
  }
}
