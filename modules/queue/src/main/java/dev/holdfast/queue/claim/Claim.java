package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializeBatch;
import dev.holdfast.queue.jdbc.AttributesJson;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.Sql;
import dev.holdfast.queue.maintenance.Promote;
import dev.holdfast.queue.maintenance.Unblock;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.sql.BatchSql;
import dev.holdfast.queue.sql.ClaimableSql;
import dev.holdfast.queue.sql.TenantSql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Gives a worker jobs to run, each under a lease and a new attempt number. */
public final class Claim {
  // One conditional statement. SKIP LOCKED lets any number of workers claim side by side: a row
  // that another one is taking is not waited for, and a row that another one has taken no longer
  // matches, so no attempt is ever held twice. The CTE must be MATERIALIZED: inlined, the planner
  // may run the LIMIT once per joined row and claim more than was asked for. Each priority is
  // walked by itself (equalities plus a range), so that delayed jobs of a high priority are not
  // walked over on the way to a due one. A row that changed between the snapshot and the lock is
  // found by the next claim.
  private static final TakeSql CLAIM =
      TakeSql.of(
          Sql.fragment(
              """
              ${lock}
              WITH picked AS MATERIALIZED (
                SELECT pick.ctid
                  FROM unnest(:from::float8[]) WITH ORDINALITY AS lane(floor, number)
                 CROSS JOIN LATERAL (
                   SELECT j.ctid
                     FROM holdfast.job j
                    WHERE j.queue = :queue AND j.priority = (lane.number - 1)::smallint
                      AND ${withoutRules} AND ${tenant} AND ${inNoBatch}
                      AND j.run_at >= to_timestamp(lane.floor) AND j.run_at <= statement_timestamp()
                    ORDER BY j.run_at, j.id
                    LIMIT :most
                      FOR NO KEY UPDATE SKIP LOCKED) AS pick
                 WHERE ${readCommitted} AND NOT ${paused} AND NOT ${rules} AND NOT ${reserved}
                 LIMIT :most
              )
              """,
              "lock",
              BatchSql.lockForRows(),
              "inNoBatch",
              BatchSql.isInNoBatch("j"),
              "readCommitted",
              BatchSql.IS_READ_COMMITTED,
              "withoutRules",
              ClaimableSql.isWithoutRules("j"),
              "tenant",
              TenantSql.isOf("j"),
              "paused",
              ClaimableSql.isPaused(":queue"),
              "rules",
              ClaimableSql.hasRules(":queue"),
              "reserved",
              "(" + ClaimableSql.WORKER_IS_RESERVED.strip() + ")"));

  private static final Sql HELD_BY =
      Sql.of(
          """
          SELECT id, attempt FROM holdfast.job WHERE state = 'RUNNING' AND worker_id = :worker
          """);

  /** A claimed job with its place in the queue: the update gives rows back in no useful order. */
  record Taken(LeasedJob job, int priority, double due) {
    static final Comparator<Taken> ORDER =
        Comparator.comparingInt(Taken::priority)
            .thenComparingDouble(Taken::due)
            .thenComparing(taken -> taken.job().id());

    static Taken read(ResultSet row) throws SQLException {
      return read(row, Rows.lease(row));
    }

    static Taken read(ResultSet row, Lease lease) throws SQLException {
      LeasedJob job =
          new LeasedJob(
              lease,
              row.getString("kind"),
              row.getString("queue"),
              new Json(row.getString("payload")),
              row.getString("tenant"),
              row.getString("workspace"),
              Rows.id(row, "run_id"),
              row.getString("run_key"),
              Rows.epoch(row.getDouble("created")),
              row.getInt("failures"),
              row.getInt("max_attempts"),
              Duration.ofMillis(Math.max(0, row.getLong("wait_ms"))),
              Rows.millisOrNull(row, "timeout_ms"),
              Rows.millisOrNull(row, "deadline_ms"),
              AttributesJson.read(row.getString("attributes")));
      return new Taken(job, row.getInt("priority"), row.getDouble("due"));
    }
  }

  /** Who gets the jobs. */
  public enum Receiver {
    LOCAL,
    /** Settles them in this process, many at a time: of a backlog it gets batches. */
    LOCAL_IN_BATCHES,
    /** The answer is sent over HTTP, and may be lost there. */
    REMOTE
  }

  private static final Duration IN_A_MOMENT = Duration.ofMillis(10);

  private final Database database;
  private final UnreadableJobs apart;
  private final ClaimByRules byRules = new ClaimByRules();
  private final ClaimBatch byBatch;
  private final int batchFrom;
  private final LongSupplier nanos;

  /** Queues whose last claim found jobs by rules: there is probably more, and no need to ask. */
  private final Set<String> byRulesLast = ConcurrentHashMap.newKeySet();

  private final Map<String, ClaimCursor> cursors = new ConcurrentHashMap<>();

  /**
   * @param batchFrom a claim that follows one of so many jobs is a batch claim, if it may be
   */
  public Claim(
      Database database, Backoff backoff, BatchClaims batches, int batchFrom, LongSupplier nanos) {
    this.database = database;
    this.apart = new UnreadableJobs(database, backoff);
    this.byBatch = new ClaimBatch(database, batches, apart);
    this.batchFrom = batchFrom;
    this.nanos = nanos;
  }

  /**
   * @param cancelGrace how long the worker lets a handler take to stop
   * @param tenant whose jobs; null for all
   */
  public Claimed from(
      String queue,
      int most,
      String worker,
      Duration lease,
      Duration cancelGrace,
      @Nullable String tenant,
      Receiver receiver) {
    ClaimRequest request =
        new ClaimRequest(queue, most, worker, lease, cancelGrace, tenant)
            .remote(receiver == Receiver.REMOTE);
    if (byRulesLast.contains(queue)) {
      ClaimByRules.Taken taken = takeByRules(request);
      if (!taken.jobs().isEmpty()) {
        return new Claimed(taken.jobs(), null);
      }
    }
    String key = tenant == null ? queue : queue + "\0" + tenant;
    ClaimCursor cursor = cursors.computeIfAbsent(key, name -> new ClaimCursor(nanos));
    double[] from = cursor.next();
    List<LeasedJob> jobs = first(request, cursor, from, receiver);
    if (jobs.isEmpty() && cursor.shouldScanFully(from)) {
      from = cursor.next();
      jobs = take(request, cursor, from);
    }
    if (!jobs.isEmpty()) {
      return new Claimed(jobs, null);
    }
    IdleQueueProbe probe =
        database.run("probe", connection -> IdleQueueProbe.of(connection, queue));
    if (probe.paused()) {
      return Claimed.NOTHING;
    }
    boolean more = probe.retryDue() && !Promote.due(database, queue).isEmpty();
    boolean elsewhere = probe.retryDue() && !more;
    more |= probe.hasWaiting() && !Unblock.ready(database, queue).isEmpty();
    if (more) {
      jobs = take(request, cursor, cursor.next());
    }
    // What became claimable just now may have a concurrency key the probe did not see.
    if (jobs.isEmpty() && (probe.hasRules() || more)) {
      ClaimByRules.Taken taken = takeByRules(request);
      if (taken.whenEmpty()) {
        return new Claimed(List.of(), probe.nextDue(), true);
      }
      jobs = taken.jobs();
    }
    if (!jobs.isEmpty()) {
      return new Claimed(jobs, null);
    }
    // A retry is due but was not promoted here: another connection is promoting it right now.
    Duration next = elsewhere ? IN_A_MOMENT : probe.nextDue();
    return new Claimed(jobs, sooner(next, cursor.nextFullScan(from)));
  }

  private ClaimByRules.Taken takeByRules(ClaimRequest request) {
    AtomicReference<ClaimByRules.Taken> last = new AtomicReference<>();
    List<LeasedJob> jobs =
        apart.ifNeeded(
            request,
            asked -> {
              ClaimByRules.Taken turns = byRules.take(database, asked);
              last.set(turns);
              return turns.jobs();
            });
    ClaimByRules.Taken taken = Objects.requireNonNull(last.get()).with(jobs);
    if (taken.byRules() && !jobs.isEmpty()) {
      byRulesLast.add(request.queue());
    } else {
      byRulesLast.remove(request.queue());
    }
    return taken;
  }

  private static @Nullable Duration sooner(@Nullable Duration one, @Nullable Duration other) {
    return one == null || (other != null && other.compareTo(one) < 0) ? other : one;
  }

  private List<LeasedJob> first(
      ClaimRequest request, ClaimCursor cursor, double[] from, Receiver receiver) {
    if (receiver == Receiver.LOCAL_IN_BATCHES && cursor.found() >= batchFrom) {
      Optional<List<LeasedJob>> batch = byBatch.take(request, cursor, from);
      if (batch.isPresent()) {
        return batch.get();
      }
    }
    return take(request, cursor, from);
  }

  private List<LeasedJob> take(ClaimRequest request, ClaimCursor cursor, double[] from) {
    return apart.ifNeeded(request, asked -> takeOnce(asked, cursor, from));
  }

  private List<LeasedJob> takeOnce(ClaimRequest request, ClaimCursor cursor, double[] from) {
    long start = cursor.now();
    List<Taken> taken =
        database.runOnce(
            "claim",
            connection ->
                request
                    .bind(CLAIM.reading(request.payloads()).on(connection))
                    .set("most", request.most())
                    .set("from", floors(connection, from))
                    .listAfterLock(Taken::read));
    cursor.claimed(from, taken, cursor.now() - start);
    return inOrder(taken);
  }

  static Array floors(Connection connection, double[] from) throws SQLException {
    return connection.createArrayOf("float8", Arrays.stream(from).boxed().toArray());
  }

  static List<LeasedJob> inOrder(List<Taken> taken) {
    return taken.stream().sorted(Taken.ORDER).map(Taken::job).toList();
  }

  /** The leases under this worker's name, for it to find those it does not know. */
  public static List<Lease> heldBy(Connection connection, String worker) throws SQLException {
    MaterializeBatch.ofWorkers(connection, worker);
    return HELD_BY.on(connection).set("worker", worker).listByKey(Rows::lease);
  }
}
