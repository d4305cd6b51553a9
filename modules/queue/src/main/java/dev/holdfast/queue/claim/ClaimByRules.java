package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Claims from a queue that has a concurrency or rate limit, jobs with concurrency keys, or
 * suspects.
 *
 * <p>Counting and claiming must be one step for all workers, or two of them count the same slot
 * below the limit as theirs. Claims of such a queue are therefore serialized by an advisory lock,
 * and count in a separate statement once they have it: the statement that waits for a lock has a
 * snapshot from before the wait.
 */
final class ClaimByRules {
  private static final String CAPACITY =
      Sql.fragment(
          """
          WITH capacity AS MATERIALIZED (
            SELECT CASE WHEN ${paused} THEN 0 ELSE
                   least(:most, (SELECT CASE
                               WHEN q.max_running IS NOT NULL THEN q.max_running
                                 - (SELECT count(*) FROM holdfast.job r
                                     WHERE r.queue = q.name AND r.state = 'RUNNING') END
                               FROM holdfast.queue q WHERE q.name = :queue)) END AS free_slots
          )
          """,
          "paused",
          ClaimableSql.isPaused(":queue"));

  private static final TakeSql TAKE_SUSPECT =
      TakeSql.of(
          Sql.fragment(
              """
              ${capacity}, picked AS MATERIALIZED (
                SELECT j.ctid FROM holdfast.job j
                 WHERE ${due}
                   AND (SELECT free_slots FROM capacity) > 0
                 ORDER BY j.priority, j.run_at, j.id
                 LIMIT 1
                   FOR NO KEY UPDATE SKIP LOCKED
              )
              """,
              "capacity",
              CAPACITY,
              "due",
              RulesSnapshot.DUE_SUSPECT));

  private static final TakeSql TAKE_WITHIN_RULES =
      TakeSql.of(
          Sql.fragment(
              """
              ${capacity}, keyed AS MATERIALIZED (
                SELECT wanted.key, wanted.tenant,
                       wanted.allowed
                       - (SELECT count(*) FROM holdfast.job r
                           WHERE r.queue = :queue AND r.state = 'RUNNING'
                             AND r.concurrency_key = wanted.key AND r.tenant = wanted.tenant) AS free_slots
                  FROM unnest(:keys::text[], :keyTenants::text[], :keyLimits::int4[])
                         AS wanted(key, tenant, allowed)
              ), without_rules AS MATERIALIZED (
                SELECT pick.*
                  FROM generate_series(0, 9) AS lane(priority)
                 CROSS JOIN LATERAL (
                   SELECT j.ctid, j.priority, j.run_at, j.id
                     FROM holdfast.job j
                    WHERE j.queue = :queue AND j.priority = lane.priority
                      AND ${withoutRules} AND ${tenant} AND ${inNoBatch} AND ${served}
                      AND j.run_at <= statement_timestamp()
                    ORDER BY j.run_at, j.id
                    LIMIT :most
                      FOR NO KEY UPDATE SKIP LOCKED) AS pick
                 LIMIT greatest(0, (SELECT free_slots FROM capacity))
              ), within_keys AS MATERIALIZED (
                SELECT pick.*
                  FROM keyed
                 CROSS JOIN LATERAL (
                   SELECT j.ctid, j.priority, j.run_at, j.id
                     FROM holdfast.job j
                    WHERE j.queue = :queue AND j.concurrency_key = keyed.key
                      AND j.tenant = keyed.tenant
                      AND j.state = 'PENDING' AND NOT j.isolated AND ${tenant} AND ${served}
                      AND j.run_at <= statement_timestamp()
                    ORDER BY j.priority, j.run_at, j.id
                    LIMIT greatest(0, least(keyed.free_slots, (SELECT free_slots FROM capacity)))
                      FOR NO KEY UPDATE SKIP LOCKED) AS pick
              ), picked AS MATERIALIZED (
                SELECT both_kinds.ctid
                  FROM (SELECT * FROM without_rules
                        UNION ALL
                        SELECT * FROM within_keys) AS both_kinds
                 ORDER BY both_kinds.priority, both_kinds.run_at, both_kinds.id
                 LIMIT greatest(0, (SELECT free_slots FROM capacity))
              )
              """,
              "capacity",
              CAPACITY,
              "withoutRules",
              ClaimableSql.isWithoutRules("j"),
              "inNoBatch",
              BatchSql.isInNoBatch("j"),
              "served",
              ClaimableSql.isServed("j"),
              "tenant",
              TenantSql.isOf("j")));

  private static final int KEYS_A_PAGE = 200;

  /** The next claim continues where this one stopped. */
  private static final int PAGES_A_CLAIM = 10;

  private final Map<String, RulesSnapshot.Key> lastKey = new ConcurrentHashMap<>();
  private final int keysAPage;

  ClaimByRules() {
    this(KEYS_A_PAGE);
  }

  ClaimByRules(int keysAPage) {
    this.keysAPage = keysAPage;
  }

  /**
   * The jobs of one page of keys, claimed in one transaction.
   *
   * @param next where the next page of keys begins; null when no page is to follow
   */
  record Page(
      List<LeasedJob> jobs, boolean whenEmpty, boolean byRules, RulesSnapshot.@Nullable Key next) {
    static Page last(List<LeasedJob> jobs) {
      return new Page(jobs, false, true, null);
    }
  }

  /**
   * One page of keys after the other, each in its own transaction, so that the lock is not held
   * long.
   */
  Taken take(MaterializedJobs materialized, ClaimRequest request, boolean payloads) {
    RulesSnapshot.Key start = lastKey.getOrDefault(request.queue(), RulesSnapshot.Key.FIRST);
    RulesSnapshot.Key from = start;
    boolean around = start.equals(RulesSnapshot.Key.FIRST);
    List<LeasedJob> jobs = new ArrayList<>();
    for (int page = 0; page < PAGES_A_CLAIM && jobs.size() < request.most(); page++) {
      Page claimed =
          page(
              materialized,
              request,
              payloads,
              from,
              around ? start : RulesSnapshot.Key.FIRST,
              jobs);
      jobs.addAll(claimed.jobs());
      if (claimed.next() == null) {
        lastKey.put(request.queue(), from);
        return new Taken(
            List.copyOf(jobs), claimed.whenEmpty() && jobs.isEmpty(), claimed.byRules());
      }
      from = claimed.next();
      if (from.equals(RulesSnapshot.Key.FIRST) && around) {
        break;
      }
      around |= from.equals(RulesSnapshot.Key.FIRST);
    }
    lastKey.put(request.queue(), from);
    return new Taken(List.copyOf(jobs), false, true);
  }

  /**
   * A page with an unreadable job gives nothing, and the pages before it keep their jobs; the next
   * claim begins with it. Any other failure is left to the worker: whether this page committed is
   * unknown, so the worker asks for all leases under its name.
   */
  private Page page(
      MaterializedJobs materialized,
      ClaimRequest request,
      boolean payloads,
      RulesSnapshot.Key from,
      RulesSnapshot.Key until,
      List<LeasedJob> before) {
    ClaimRequest rest = request.most(request.most() - before.size());
    try {
      return materialized.counting(
          rest.queue(),
          rest.worker(),
          in -> RulesSnapshot.lockAndRead(in, rest, from, until, keysAPage),
          RulesSnapshot::batches,
          (in, rules) -> takePage(in, rules, rest, payloads, from));
    } catch (DatabaseException e) {
      if (before.isEmpty() || !UnreadableJobs.mayHelp(e)) {
        throw e;
      }
      return Page.last(List.of());
    }
  }

  Page takePage(
      Connection connection,
      RulesSnapshot rules,
      ClaimRequest request,
      boolean payloads,
      RulesSnapshot.Key from)
      throws SQLException {
    int allowed = rules.allows(request.most());
    if (allowed == 0 || rules.workerIsReserved()) {
      return Page.last(List.of());
    }
    if (rules.suspectWaits() && rules.workerIsEmpty()) {
      List<LeasedJob> suspect = takeSuspect(connection, request, payloads);
      if (!suspect.isEmpty()) {
        spend(connection, request, rules, 1);
        return Page.last(suspect);
      }
    }
    if (rules.workerIsNext()) {
      return new Page(List.of(), true, true, null);
    }
    List<LeasedJob> jobs =
        takeWithinRules(connection, request.most(allowed), payloads, rules.keys());
    spend(connection, request, rules, jobs.size());
    if (!rules.findsRules() && from.equals(RulesSnapshot.Key.FIRST)) {
      return new Page(jobs, false, false, null);
    }
    boolean more = rules.keys().size() == keysAPage;
    return new Page(jobs, false, true, more ? rules.keys().getLast() : RulesSnapshot.Key.FIRST);
  }

  private static void spend(
      Connection connection, ClaimRequest request, RulesSnapshot rules, int started)
      throws SQLException {
    if (rules.tokens() != null) {
      RateTokens.spend(connection, request.queue(), started);
    }
  }

  private static List<LeasedJob> takeSuspect(
      Connection connection, ClaimRequest request, boolean payloads) throws SQLException {
    return ClaimedRow.inOrder(
        TAKE_SUSPECT.on(connection, request, payloads).set("most", 1).list(ClaimedRow::read));
  }

  private static List<LeasedJob> takeWithinRules(
      Connection connection, ClaimRequest request, boolean payloads, List<RulesSnapshot.Key> keys)
      throws SQLException {
    return ClaimedRow.inOrder(
        TAKE_WITHIN_RULES
            .on(connection, request, payloads)
            .set("most", request.most())
            .array("keys", "text", keys, RulesSnapshot.Key::key)
            .array("keyTenants", "text", keys, RulesSnapshot.Key::tenant)
            .array("keyLimits", "int4", keys, RulesSnapshot.Key::limit)
            .list(ClaimedRow::read));
  }
}
