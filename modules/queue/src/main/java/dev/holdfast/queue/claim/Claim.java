package dev.holdfast.queue.claim;

import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.value.Json;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.jdbc.AttributesJson;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.settle.Backoff;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Gives a worker jobs to run, each under a lease and a new attempt number. */
public final class Claim {
  /** What a claim writes and gives back, once it knows the rows. */
  public static final String TAKE =
      """
      UPDATE holdfast.job j
         SET state = 'RUNNING', attempt = j.attempt + 1, worker_id = ?,
             started_at = statement_timestamp(), heartbeat_at = statement_timestamp(),
             lease_expires_at = statement_timestamp() + ? * interval '1 millisecond',
             events = j.events + 1, started_event = j.events + 1,
             progress = NULL, progress_message = NULL,
             unique_states = holdfast.unique_after(j.unique_states, 'RUNNING')
       WHERE j.ctid = ANY (ARRAY(SELECT p.ctid FROM picked p))
      RETURNING j.id, j.attempt, j.kind, j.queue, j.payload, j.tenant, j.workspace, j.run_id, j.run_key,
                j.failures, j.max_attempts, j.timeout_ms, j.priority, j.attributes,
                date_part('epoch', j.run_at) AS due,
                date_part('epoch', j.created_at) AS created,
                date_part('epoch', j.deadline - statement_timestamp()) * 1000 AS deadline_ms,
                date_part('epoch', statement_timestamp() - greatest(j.run_at, j.created_at)) * 1000
                  AS wait_ms
      """;

  /** The same, for payloads that are read one by one: see {@link UnreadableJobs}. */
  static final String TAKE_UNREAD = TAKE.replace("j.payload,", "'null' AS payload,");

  // One conditional statement. SKIP LOCKED lets any number of workers claim side by side: a row
  // another one is taking is not waited for, and a row another one has taken no longer matches, so
  // no attempt is ever held twice. The CTE must be MATERIALIZED: inlined, the planner may run the
  // LIMIT once per joined row and claim more than was asked for. Each priority is walked by itself
  // (equalities plus a range), so a heap of delayed urgent jobs does not stand before a due one.
  // A row that changed between our snapshot and our lock is found again by the next claim.
  private static final String PICK =
      """
      WITH picked AS MATERIALIZED (
        SELECT pick.ctid
          FROM unnest(?::float8[]) WITH ORDINALITY AS lane(floor, number)
         CROSS JOIN LATERAL (
           SELECT j.ctid
             FROM holdfast.job j
            WHERE j.queue = ? AND j.priority = (lane.number - 1)::smallint
              AND j.state = 'PENDING' AND j.concurrency_key IS NULL
              AND j.run_at >= to_timestamp(lane.floor) AND j.run_at <= statement_timestamp()
              AND (? = '' OR j.tenant = ?)
            ORDER BY j.run_at, j.id
            LIMIT ?
              FOR NO KEY UPDATE SKIP LOCKED) AS pick
         -- A queue with rules goes the longer way, see ClaimByRules.
         WHERE NOT EXISTS (
                 SELECT FROM holdfast.queue q
                  WHERE q.name = ? AND (q.max_running IS NOT NULL OR q.rate_limit IS NOT NULL))
           AND NOT %s
           -- Not EXISTS: it ignores the order, and with statistics of a busier hour the planner
           -- then expects the first row it meets to match and reads the whole table.
           AND (SELECT k.queue FROM holdfast.job k
                 WHERE k.queue = ? AND k.state = 'PENDING' AND k.concurrency_key IS NOT NULL
                 ORDER BY k.concurrency_key LIMIT 1) IS NULL
           AND (SELECT a.worker_id FROM holdfast.job a
                 WHERE a.worker_id = ? AND a.state = 'RUNNING' AND a.alone
                 ORDER BY a.worker_id LIMIT 1) IS NULL
         LIMIT ?
      )
      """
          .formatted(Queues.isPaused("?"));

  /** A claimed job with its place in the queue: the update gives rows back in no useful order. */
  record Taken(LeasedJob job, int priority, double due) {
    static final Comparator<Taken> ORDER =
        Comparator.comparingInt(Taken::priority)
            .thenComparingDouble(Taken::due)
            .thenComparing(taken -> taken.job().id());

    static Taken read(ResultSet row) throws SQLException {
      LeasedJob job =
          new LeasedJob(
              Rows.lease(row),
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

  private static final Duration IN_A_MOMENT = Duration.ofMillis(10);

  private final Database database;
  private final UnreadableJobs apart;
  private final ClaimByRules byRules = new ClaimByRules();
  private final Map<String, ClaimCursor> floors = new ConcurrentHashMap<>();

  public Claim(Database database, Backoff backoff) {
    this.database = database;
    this.apart = new UnreadableJobs(database, backoff);
  }

  /**
   * @param tenant whose jobs; null is everybody's
   */
  public Claimed from(
      String queue, int most, String worker, Duration lease, @Nullable String tenant) {
    String line = tenant == null ? queue : queue + "\0" + tenant;
    ClaimCursor known = floors.computeIfAbsent(line, name -> new ClaimCursor(System::nanoTime));
    double[] from = known.next();
    List<LeasedJob> jobs = take(queue, most, worker, lease, tenant, known, from);
    if (jobs.isEmpty() && known.shouldLookAgain(from)) {
      from = known.next();
      jobs = take(queue, most, worker, lease, tenant, known, from);
    }
    if (!jobs.isEmpty()) {
      return new Claimed(jobs, null);
    }
    IdleQueueProbe survey =
        database.run("survey", connection -> IdleQueueProbe.of(connection, queue));
    if (survey.paused()) {
      return Claimed.NOTHING;
    }
    boolean more = survey.retryDue() && !Promote.due(database, queue).isEmpty();
    boolean elsewhere = survey.retryDue() && !more;
    more |= survey.hasWaiting() && !Unblock.ready(database, queue).isEmpty();
    if (more) {
      jobs = take(queue, most, worker, lease, tenant, known, known.next());
    }
    // What became claimable just now may have a concurrency key the survey did not see.
    if (jobs.isEmpty() && (survey.hasRules() || more)) {
      AtomicBoolean whenEmpty = new AtomicBoolean();
      jobs =
          apart.ifNeeded(
              most,
              lease,
              (some, write) -> {
                ClaimByRules.Turn turn =
                    database.transactOnce(
                        "claim",
                        connection ->
                            byRules.take(connection, queue, some, worker, lease, tenant, write));
                whenEmpty.set(turn.whenEmpty());
                return turn.jobs();
              });
      if (whenEmpty.get()) {
        return new Claimed(List.of(), survey.nextDue(), true);
      }
    }
    if (!jobs.isEmpty()) {
      return new Claimed(jobs, null);
    }
    // A retry that is due and could not be had: somebody else is just making it claimable.
    Duration next = elsewhere ? IN_A_MOMENT : survey.nextDue();
    return new Claimed(jobs, sooner(next, known.nextFullLook(from)));
  }

  private static @Nullable Duration sooner(@Nullable Duration one, @Nullable Duration other) {
    return one == null || (other != null && other.compareTo(one) < 0) ? other : one;
  }

  private List<LeasedJob> take(
      String queue,
      int most,
      String worker,
      Duration lease,
      @Nullable String tenant,
      ClaimCursor known,
      double[] from) {
    return apart.ifNeeded(
        most, lease, (some, write) -> take(queue, some, worker, lease, tenant, known, from, write));
  }

  private List<LeasedJob> take(
      String queue,
      int most,
      String worker,
      Duration lease,
      @Nullable String tenant,
      ClaimCursor known,
      double[] from,
      String write) {
    long start = System.nanoTime();
    List<Taken> taken =
        database.runOnce(
            "claim",
            connection ->
                Rows.listByKey(
                    connection,
                    Taken::read,
                    PICK + write,
                    connection.createArrayOf("float8", Arrays.stream(from).boxed().toArray()),
                    queue,
                    named(tenant),
                    named(tenant),
                    most,
                    queue,
                    queue,
                    queue,
                    worker,
                    most,
                    worker,
                    lease));
    known.claimed(from, taken, System.nanoTime() - start);
    return inOrder(taken);
  }

  /**
   * Everybody's is an empty name, not a null: pgjdbc would prepare the statement anew whenever a
   * null follows a text, and the new plan would not know what was set for the first one.
   */
  static String named(@Nullable String tenant) {
    return tenant == null ? "" : tenant;
  }

  static List<LeasedJob> inOrder(List<Taken> taken) {
    return taken.stream().sorted(Taken.ORDER).map(Taken::job).toList();
  }

  /** Jobs that lie under this worker's name, for it to tell which of them it knows. */
  public static List<Lease> heldBy(Connection connection, String worker) throws SQLException {
    return Rows.list(
        connection,
        Rows::lease,
        "SELECT id, attempt FROM holdfast.job WHERE state = 'RUNNING' AND worker_id = ?",
        worker);
  }
}
