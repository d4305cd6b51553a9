package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.maintenance.Promote;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.wait.EndedJobs;
import dev.holdfast.queue.wait.Wake;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Gives a worker jobs to run, each under a lease and a new attempt number. */
public final class Claim {
  // One conditional statement. SKIP LOCKED lets any number of workers claim side by side: a row
  // that another one is taking is not waited for, and a row that another one has taken no longer
  // matches, so no attempt is ever held twice. The CTE must be MATERIALIZED: inlined, the planner
  // may run the LIMIT once per joined row and claim more than was asked for. A row that changed
  // between the snapshot and the lock is found by the next claim.
  private static final TakeSql CLAIM =
      TakeSql.of(
          Sql.fragment(
              """
              ${lock}
              WITH picked AS MATERIALIZED (
                ${picked}
              )
              """,
              "lock",
              BatchSql.lockForRows(),
              "picked",
              PickSql.of("j.ctid", "FOR NO KEY UPDATE SKIP LOCKED")));

  private static final Sql HELD_BY =
      Sql.of(
          """
          SELECT id, attempt FROM holdfast.job WHERE state = 'RUNNING' AND worker_id = :worker
          """);

  /** Workers of one tenant walk over the jobs of the others, as over those of other versions. */
  private record Line(String queue, Tenant tenant, List<KindVersion> versions) {}

  private static final Duration IN_A_MOMENT = Duration.ofMillis(10);

  /** Names of queues and versions come from clients; a line that is forgotten scans once more. */
  private static final int MOST_LINES = 1_000;

  private final Database database;
  private final MaterializedJobs materialized;
  private final UnreadableJobs unreadable;
  private final ClaimByRules byRules = new ClaimByRules();
  private final ClaimBatch byBatch;
  private final EndedJobs endedJobs;
  private final int batchFrom;
  private final LongSupplier nanos;

  /** Queues whose last claim found jobs by rules: there is probably more, and no need to ask. */
  private final Set<String> byRulesLast = ConcurrentHashMap.newKeySet();

  private final Map<Line, ClaimCursor> cursors = new ConcurrentHashMap<>();

  /**
   * @param batchFrom a claim that follows one of so many jobs is a batch claim, if it may be
   */
  public Claim(
      Database database,
      MaterializedJobs materialized,
      Backoff backoff,
      BatchClaims batches,
      EndedJobs endedJobs,
      int batchFrom,
      LongSupplier nanos) {
    this.database = database;
    this.materialized = materialized;
    this.unreadable = new UnreadableJobs(database, materialized, backoff, endedJobs);
    this.endedJobs = endedJobs;
    this.byBatch = new ClaimBatch(database, batches, unreadable);
    this.batchFrom = batchFrom;
    this.nanos = nanos;
  }

  public Claimed jobs(ClaimRequest request) {
    long freed = endedJobs.freed();
    if (byRulesLast.contains(request.queue())) {
      Taken taken = byRules(request);
      if (!taken.isEmpty()) {
        return new Claimed(taken.jobs(), null);
      }
    }
    Line line = new Line(request.queue(), request.tenant(), request.versions());
    if (cursors.size() >= MOST_LINES) {
      cursors.clear();
    }
    ClaimCursor cursor = cursors.computeIfAbsent(line, of -> new ClaimCursor(nanos));
    double[] from = cursor.next();
    Taken taken = first(request, cursor, from);
    if (taken.isEmpty() && cursor.shouldScanFully(from)) {
      from = cursor.next();
      taken = byRows(request, cursor, from);
    }
    return taken.isEmpty()
        ? whenIdle(request, cursor, from, freed)
        : new Claimed(taken.jobs(), null);
  }

  /** Nothing was found: asks why, does what may change that, and claims again. */
  private Claimed whenIdle(ClaimRequest request, ClaimCursor cursor, double[] from, long freed) {
    String queue = request.queue();
    IdleQueueProbe probe =
        database.run("probe", connection -> IdleQueueProbe.of(connection, queue));
    if (probe.paused()) {
      return Claimed.NOTHING;
    }
    boolean promoted = probe.retryDue() && !Promote.due(database, queue).isEmpty();
    boolean woken = probe.wakeDue() && !Wake.due(database, queue).isEmpty();
    boolean elsewhere = (probe.retryDue() && !promoted) || (probe.wakeDue() && !woken);
    boolean more = promoted || woken;
    more |= probe.hasWaiting() && !endedJobs.freeMissed(queue).isEmpty();
    more |= endedJobs.freedSince(freed);
    Taken taken = more ? byRows(request, cursor, cursor.next()) : Taken.of(List.of());
    // What became claimable just now may have a concurrency key the probe did not see.
    if (taken.isEmpty() && (probe.hasRules() || more)) {
      taken = byRules(request);
    }
    if (taken.whenEmpty()) {
      return new Claimed(List.of(), probe.nextDue(), true);
    }
    if (!taken.isEmpty()) {
      return new Claimed(taken.jobs(), null);
    }
    // It is due but was not made claimable here: another connection is doing so right now.
    Duration next = elsewhere ? IN_A_MOMENT : probe.nextDue();
    return new Claimed(List.of(), sooner(next, cursor.nextFullScan(from)));
  }

  private static @Nullable Duration sooner(@Nullable Duration one, @Nullable Duration other) {
    return one == null || (other != null && other.compareTo(one) < 0) ? other : one;
  }

  private Taken byRules(ClaimRequest request) {
    Taken taken =
        unreadable.ifNeeded(
            request, (asked, payloads) -> byRules.take(materialized, asked, payloads));
    if (taken.byRules() && !taken.isEmpty()) {
      byRulesLast.add(request.queue());
    } else {
      byRulesLast.remove(request.queue());
    }
    return taken;
  }

  private Taken first(ClaimRequest request, ClaimCursor cursor, double[] from) {
    if (request.receiver() == ClaimRequest.Receiver.LOCAL_IN_BATCHES
        && cursor.found() >= batchFrom) {
      Optional<Taken> batch = byBatch.take(request, cursor, from);
      if (batch.isPresent()) {
        return batch.get();
      }
    }
    return byRows(request, cursor, from);
  }

  private Taken byRows(ClaimRequest request, ClaimCursor cursor, double[] from) {
    return unreadable.ifNeeded(
        request,
        (asked, payloads) -> {
          long start = cursor.now();
          List<ClaimedRow> rows =
              database.runOnce(
                  "claim",
                  connection ->
                      CLAIM
                          .on(connection, asked, payloads)
                          .set("most", asked.most())
                          .set("from", ClaimCursor.array(connection, from))
                          .listAfterLock(ClaimedRow::read));
          cursor.claimed(from, rows, asked.most(), cursor.now() - start);
          return Taken.of(rows);
        });
  }

  /** The leases under this worker's name, for it to find those it does not know. */
  public static List<Lease> heldBy(Connection connection, String worker) throws SQLException {
    return HELD_BY.on(connection).set("worker", worker).listByKey(Rows::lease);
  }
}
