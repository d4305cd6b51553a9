package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The limits, keys and suspects of a queue, read by a claim that holds the lock of its queue; see
 * {@link ClaimByRules}.
 *
 * @param tokens of a queue with a rate; null without one
 * @param limited the queue has a limit
 * @param keys a page of the keys that jobs wait for
 * @param workerIsReserved the worker runs a suspect
 * @param suspectWaits a suspect of the queue is due
 * @param workerIsEmpty a suspect is due and the worker runs no job
 * @param workerIsNext a suspect is due and of all busy workers this one has the fewest jobs
 * @param batches jobs of the queue, or of the worker, may be in batches, and are not counted yet
 */
record RulesSnapshot(
    @Nullable Double tokens,
    boolean limited,
    List<Key> keys,
    boolean workerIsReserved,
    boolean suspectWaits,
    boolean workerIsEmpty,
    boolean workerIsNext,
    boolean batches) {
  /**
   * A concurrency key belongs to its tenant: two of them that choose the same do not meet.
   *
   * @param limit how many of its jobs may run at once, as the next of them says
   */
  record Key(String tenant, String key, int limit) {
    static final Key FIRST = new Key("", "", 0);
  }

  /** A concurrency key limits a suspect as it limits any other job. */
  static final String DUE_SUSPECT =
      Sql.fragment(
          """
          j.queue = :queue AND ${suspect} AND ${tenant} AND ${served}
          AND j.run_at <= statement_timestamp()
          AND (j.concurrency_key IS NULL OR j.concurrency_limit > (
                 SELECT count(*) FROM holdfast.job r
                  WHERE r.queue = j.queue AND r.state = 'RUNNING'
                    AND r.concurrency_key = j.concurrency_key AND r.tenant = j.tenant))
          """,
          "suspect",
          ClaimableSql.isSuspect("j"),
          "tenant",
          TenantSql.isOf("j"),
          "served",
          ClaimableSql.isServed("j"));

  // Sent in one round trip: BEGIN, the wait for the advisory lock of the queue and for batch claims
  // to end, and the query, which is a separate statement because one that waits for a lock has a
  // snapshot from before the wait. The lock of the queue comes first: a claim that waits for it
  // keeps no batch claim out.
  //
  // The keys are found by a loose index scan: each step of the recursion reads the first entry of
  // the next key, so that a key with a million jobs costs one index probe. That they are not null
  // is said for the planner alone: the index has only such, and the planner does not conclude that
  // from a comparison of rows.
  //
  // A suspect is given only to a worker that runs no other job, and that worker is reserved until
  // the suspect has ended. On a busy queue no worker would ever be empty: so while a suspect waits,
  // the worker with the fewest jobs is next, and claims no more until it is empty.
  private static final Sql SQL =
      Sql.of(
          """
          ${begin}
          SELECT pg_advisory_xact_lock(hashtext('holdfast.claim'), hashtext(:queue));
          SELECT ${keepBatchesOut};
          WITH RECURSIVE filled AS (
            ${fill}
          ), loose_scan(key, tenant, allowed, n) AS (
            (SELECT j.concurrency_key, j.tenant, j.concurrency_limit, 1
               FROM holdfast.job j
              WHERE j.queue = :queue AND ${keyed}
                AND (j.concurrency_key, j.tenant) > (:afterKey, :afterTenant)
              ORDER BY j.concurrency_key, j.tenant, j.priority, j.run_at, j.id LIMIT 1)
            UNION ALL
            SELECT next.concurrency_key, next.tenant, next.concurrency_limit, loose_scan.n + 1
              FROM loose_scan
             CROSS JOIN LATERAL (
               SELECT j.concurrency_key, j.tenant, j.concurrency_limit
                 FROM holdfast.job j
                WHERE j.queue = :queue AND ${keyed}
                  AND (j.concurrency_key, j.tenant) > (loose_scan.key, loose_scan.tenant)
                ORDER BY j.concurrency_key, j.tenant, j.priority, j.run_at, j.id LIMIT 1) AS next
             WHERE loose_scan.n < :mostKeys
               AND (:untilKey = '' OR (loose_scan.key, loose_scan.tenant) < (:untilKey, :untilTenant))
          )
          SELECT (SELECT rate_tokens FROM filled) AS tokens,
                 (SELECT q.max_running FROM holdfast.queue q WHERE q.name = :queue) IS NOT NULL
                   AS limited,
                 ARRAY(SELECT key FROM loose_scan ORDER BY n) AS keys,
                 ARRAY(SELECT tenant FROM loose_scan ORDER BY n) AS tenants,
                 ARRAY(SELECT allowed FROM loose_scan ORDER BY n) AS limits,
                 ${reserved} AS worker_is_reserved,
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
                   AS worker_is_next,
                 (SELECT c.id FROM holdfast.claim c
                   WHERE c.queue = :queue OR c.worker_id = :worker LIMIT 1) IS NOT NULL AS batches
            FROM (SELECT 1) AS one
            LEFT JOIN LATERAL (
              SELECT j.id, j.queue FROM holdfast.job j
               WHERE ${due}
               ORDER BY j.priority, j.run_at, j.id
               LIMIT 1) AS suspect ON true
          """,
          "begin",
          Database.BEGIN_BY_KEY,
          "keepBatchesOut",
          BatchSql.keepBatchesOut(":queue"),
          "fill",
          RateTokens.FILL,
          "keyed",
          ClaimableSql.isKeyed("j"),
          "reserved",
          ClaimableSql.WORKER_IS_RESERVED,
          "due",
          DUE_SUSPECT);

  /** How many statements are sent before the query. */
  private static final int BEFORE = Database.BEGIN_STATEMENTS + 2;

  /**
   * Waits for the lock of the queue, which the transaction holds until it ends; meanwhile no batch
   * claim takes jobs of the queue.
   *
   * @param until the last key to read; {@link Key#FIRST} for all
   */
  static RulesSnapshot lockAndRead(
      Connection connection, ClaimRequest request, Key after, Key until, int mostKeys)
      throws SQLException {
    return SQL.on(connection)
        .set("queue", request.queue())
        .set("worker", request.worker())
        .tenant(request.tenant())
        .array("versions", "text", request.versions(), ClaimableSql::served)
        .set("afterKey", after.key())
        .set("afterTenant", after.tenant())
        .set("untilKey", until.key())
        .set("untilTenant", until.tenant())
        .set("mostKeys", mostKeys)
        .listAfter(BEFORE, RulesSnapshot::read)
        .getFirst();
  }

  private static RulesSnapshot read(ResultSet row) throws SQLException {
    String[] names = (String[]) row.getArray("keys").getArray();
    String[] tenants = (String[]) row.getArray("tenants").getArray();
    Integer[] limits = (Integer[]) row.getArray("limits").getArray();
    List<Key> keys = new ArrayList<>(names.length);
    for (int i = 0; i < names.length; i++) {
      keys.add(new Key(tenants[i], names[i], limits[i]));
    }
    return new RulesSnapshot(
        Rows.doubleOrNull(row, "tokens"),
        row.getBoolean("limited"),
        keys,
        row.getBoolean("worker_is_reserved"),
        row.getBoolean("suspect_waits"),
        row.getBoolean("worker_is_empty"),
        row.getBoolean("worker_is_next"),
        row.getBoolean("batches"));
  }

  /** Whether the next claim probably has to go by rules, too. */
  boolean findsRules() {
    return limited || tokens != null || !keys.isEmpty();
  }

  /** How many of {@code wanted} jobs may start now. */
  int allows(int wanted) {
    return tokens == null ? wanted : (int) Math.min(wanted, Math.floor(tokens));
  }
}
