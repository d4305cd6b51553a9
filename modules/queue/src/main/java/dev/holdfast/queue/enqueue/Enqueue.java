package dev.holdfast.queue.enqueue;

import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.job.Unique;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.jdbc.AttributesJson;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.GroupCommit;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.queue.notify.QueueNotifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes jobs, all or none. The ids come from the client, so doing it twice makes one job. */
public final class Enqueue {
  private static final String INSERT =
      """
      INSERT INTO holdfast.job
             (id, queue, kind, state, priority, run_at, created_at, max_attempts, max_crashes,
              timeout_ms, deadline, unique_key, unique_states, unique_until,
              concurrency_key, concurrency_limit, tenant, workspace, run_id, run_key, parent_id,
              when_dependency_fails, attributes, payload)
      SELECT n.id, n.queue, n.kind,
             CASE WHEN n.when_dependency_fails IS NULL THEN 'PENDING' ELSE 'WAITING' END, n.priority,
             coalesce(n.run_at, clock.now + n.delay_ms * interval '1 millisecond'), clock.now,
             n.max_attempts, n.max_crashes, n.timeout_ms, n.deadline,
             n.unique_key, n.unique_states, clock.now + n.unique_ms * interval '1 millisecond',
             n.concurrency_key, n.concurrency_limit, n.tenant, n.workspace, n.run_id, n.run_key,
             n.parent_id, n.when_dependency_fails, n.attributes::jsonb, n.payload::jsonb
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::int2[], ?::timestamptz[], ?::int8[],
                    ?::int4[], ?::int4[], ?::int8[], ?::timestamptz[], ?::text[], ?::int2[],
                    ?::int8[], ?::text[], ?::int4[], ?::text[], ?::text[], ?::uuid[], ?::text[],
                    ?::uuid[], ?::text[], ?::text[], ?::text[])
             AS n(id, queue, kind, priority, run_at, delay_ms,
                  max_attempts, max_crashes, timeout_ms, deadline, unique_key, unique_states,
                  unique_ms, concurrency_key, concurrency_limit, tenant, workspace, run_id, run_key,
                  parent_id, when_dependency_fails, attributes, payload),
             -- Not now(): in a caller's transaction that would be when the transaction began.
             (SELECT clock_timestamp() AS now) AS clock
      ON CONFLICT DO NOTHING
      RETURNING id
      """;

  /** A key whose time window has passed is given up by its old holder here, when it matters. */
  private static final String GIVE_UP_OLD_KEYS =
      """
      WITH old AS MATERIALIZED (
        SELECT j.id
          FROM holdfast.job j
          JOIN unnest(?::text[], ?::text[], ?::text[]) AS n(tenant, kind, unique_key)
            ON j.tenant = n.tenant AND j.kind = n.kind AND j.unique_key = n.unique_key
         WHERE j.unique_states > 0 AND j.unique_until <= clock_timestamp()
         ORDER BY j.id
           FOR NO KEY UPDATE OF j
      )
      UPDATE holdfast.job j
         SET unique_states = 0
        FROM old
       WHERE j.id = old.id AND j.unique_states > 0
      """;

  private static final String WHO_STANDS_FOR =
      """
      SELECT n.id AS asked, coalesce(own.id, holder.id) AS id
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[]) AS n(id, tenant, kind, unique_key)
        LEFT JOIN holdfast.job own ON own.id = n.id
        LEFT JOIN holdfast.job holder
               ON holder.tenant = n.tenant AND holder.kind = n.kind
              AND holder.unique_key = n.unique_key AND holder.unique_states > 0
       WHERE coalesce(own.id, holder.id) IS NOT NULL
      """;

  // What a job is handed in with and keeps. Not what a retry or a crash may change, nor times: sent
  // again after a lost answer, a delay ends at another moment. Nor the trace, in which that may be
  // another span.
  private static final String OTHERS_OF_THE_ID =
      """
      SELECT n.id
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::int2[], ?::int4[], ?::int4[], ?::int8[],
                    ?::text[], ?::text[], ?::text[], ?::uuid[], ?::text[], ?::uuid[], ?::text[], ?::text[])
             AS n(id, queue, kind, priority, max_attempts, max_crashes, timeout_ms, unique_key,
                  tenant, workspace, run_id, run_key, parent_id, attributes, payload)
        JOIN holdfast.job own ON own.id = n.id
       WHERE (own.queue, own.kind, own.priority, own.max_attempts, own.max_crashes, own.timeout_ms,
              own.unique_key, own.tenant, own.workspace, own.run_id, own.run_key, own.parent_id,
              coalesce(own.attributes - 'traceparent', '{}'), own.payload)
             IS DISTINCT FROM
             (n.queue, n.kind, n.priority, n.max_attempts, n.max_crashes, n.timeout_ms,
              n.unique_key, n.tenant, n.workspace, n.run_id, n.run_key, n.parent_id,
              coalesce(n.attributes::jsonb - 'traceparent', '{}'), n.payload::jsonb)
      """;

  // Two batches that want the same keys take them in the same order, and so cannot deadlock. A key
  // is one only together with tenant and kind.
  private static final Comparator<Job> ORDER =
      Comparator.comparing(Enqueue::uniqueKey)
          .thenComparing(Job::tenant)
          .thenComparing(Job::kind)
          .thenComparing(job -> job.id());
  private static final int TRIES = 5;

  /** Longer than transactions should be open, and shorter than callers have patience for. */
  public static final Duration KEY_PATIENCE = Duration.ofSeconds(5);

  private static final int RINGS_ALONG = 20;
  private static final int WRITERS = 2;

  private final Database database;
  private final QueueNotifier doorbell;
  private final Codec codec;
  private final RetryDefaults defaults;

  private final GroupCommit<Encoded, Enqueued> together = new GroupCommit<>(WRITERS, this::encoded);

  public Enqueue(Database database, QueueNotifier doorbell, Codec codec, RetryDefaults defaults) {
    this.database = database;
    this.doorbell = doorbell;
    this.codec = codec;
    this.defaults = defaults;
  }

  /** A job whose payload is JSON, and not too large. */
  private record Encoded(Job job, Json payload) {}

  /** With what other threads enqueue at the same moment, if it stands for itself. */
  public Enqueued one(Job asked) {
    Job job = prepared(asked);
    if (takesMoreThanOneStatement(List.of(job))) {
      return all(List.of(job)).getFirst();
    }
    // Refused before it keeps company.
    return together.ask(new Encoded(job, Limits.payload(codec.encode(job.payload()))));
  }

  private List<Enqueued> encoded(List<Encoded> batch) {
    Payloads payloads = new Payloads();
    batch.forEach(each -> payloads.add(each.job, each.payload));
    return all(batch.stream().map(Encoded::job).toList(), payloads.byJob);
  }

  public List<Enqueued> all(List<Job> asked) {
    List<Job> jobs = asked.stream().map(this::prepared).toList();
    return all(jobs, checked(jobs));
  }

  /** With what it does not say itself, and with resources that are JSON. */
  private Job prepared(Job asked) {
    Job job = defaults.applied(asked);
    return job.resources() == null
        ? job
        : job.resources(Limits.resources(codec.encode(job.resources())));
  }

  private List<Enqueued> all(List<Job> jobs, Map<JobId, Json> payloads) {
    Set<String> due = dueQueues(jobs);
    if (EnqueueFast.fits(jobs)) {
      // In a quiet moment the ring goes with the commit, which saves the workers a moment.
      boolean rings = jobs.size() <= RINGS_ALONG && doorbell.isQuiet();
      if (database.run("enqueue", connection -> usual(connection, jobs, payloads, rings))) {
        if (rings) {
          doorbell.tellHere(due);
        } else {
          doorbell.ring(due);
        }
        return jobs.stream().map(job -> new Enqueued(job.id(), false)).toList();
      }
    }
    // Of several jobs one may be refused when others have been written.
    Database.Work<List<Enqueued>> work = connection -> write(connection, jobs, payloads);
    List<Enqueued> enqueued =
        hasUnique(jobs)
            ? database.transactWithin(KEY_PATIENCE, "enqueue", work)
            : jobs.size() > 1 || takesMoreThanOneStatement(jobs)
                ? database.transact("enqueue", work)
                : database.run("enqueue", work);
    doorbell.ring(due);
    return enqueued;
  }

  /** False when it takes the general way; then nothing has been written. */
  private static boolean usual(
      Connection connection, List<Job> jobs, Map<JobId, Json> payloads, boolean rings)
      throws SQLException {
    try {
      EnqueueFast.insert(connection, jobs.stream().sorted(ORDER).toList(), payloads, rings);
      return true;
    } catch (SQLException trouble) {
      if (SqlErrors.isBadData(trouble)) {
        throw notStorable(jobs, trouble);
      }
      if (SqlErrors.isThereAlready(trouble) || (rings && SqlErrors.isOverLimit(trouble))) {
        return false;
      }
      throw trouble;
    }
  }

  /** Commits, or not, with the caller's own writes. */
  public List<Enqueued> all(Connection connection, List<Job> asked) throws SQLException {
    List<Job> jobs = asked.stream().map(this::prepared).toList();
    Map<JobId, Json> payloads = checked(jobs);
    Database.Work<List<Enqueued>> write = in -> write(in, jobs, payloads);
    Database.Work<List<Enqueued>> work =
        in -> {
          List<Enqueued> enqueued = hasUnique(jobs) ? withinPatience(in, write) : write.on(in);
          Set<String> due = dueQueues(jobs);
          if (!due.isEmpty()) {
            QueueNotifier.ringWith(in, due);
          }
          return enqueued;
        };
    // A caller without a transaction still gets all or nothing.
    return connection.getAutoCommit()
        ? Database.inTransaction(connection, work)
        : work.on(connection);
  }

  /** Bounds the waits of this alone: what the caller does next in its transaction is its own. */
  private static List<Enqueued> withinPatience(
      Connection connection, Database.Work<List<Enqueued>> write) throws SQLException {
    boolean limited =
        !Rows.list(connection, row -> true, Database.limitOnLocks(KEY_PATIENCE)).isEmpty();
    List<Enqueued> enqueued = write.on(connection);
    if (limited) {
      Rows.list(connection, row -> true, "SELECT set_config('lock_timeout', '0', true)");
    }
    return enqueued;
  }

  private List<Enqueued> write(Connection connection, List<Job> jobs, Map<JobId, Json> payloads)
      throws SQLException {
    if (jobs.isEmpty()) {
      return List.of();
    }
    Dependencies.check(jobs);
    Map<JobId, JobId> standsFor = new HashMap<>();
    List<Job> written = new ArrayList<>();
    List<Job> left = jobs.stream().sorted(ORDER).toList();
    // A holder may end between our insert and our look at it; then the key is free after all.
    for (int tries = 1; !left.isEmpty(); tries++) {
      if (tries > TRIES) {
        throw new DatabaseException(
            DatabaseException.Reason.UNAVAILABLE,
            "enqueue: uniqueKey '" + uniqueKey(left.getFirst()) + "' kept changing hands",
            null);
      }
      written.addAll(insert(connection, left, payloads, standsFor));
      left = left.stream().filter(job -> !standsFor.containsKey(job.id())).toList();
    }
    Dependencies.write(connection, written, standsFor);
    return jobs.stream()
        .map(
            job -> {
              JobId id = standsFor.getOrDefault(job.id(), job.id());
              return new Enqueued(id, !id.equals(job.id()));
            })
        .toList();
  }

  /** The jobs that were not there before. */
  private static List<Job> insert(
      Connection connection, List<Job> jobs, Map<JobId, Json> payloads, Map<JobId, JobId> standsFor)
      throws SQLException {
    List<Job> unique = jobs.stream().filter(job -> job.unique() != null).toList();
    try {
      if (!unique.isEmpty()) {
        Rows.update(
            connection,
            GIVE_UP_OLD_KEYS,
            Rows.array(connection, "text", unique, Job::tenant),
            Rows.array(connection, "text", unique, Job::kind),
            Rows.array(connection, "text", unique, Enqueue::uniqueKey));
      }
      for (JobId id :
          Rows.listByKey(
              connection, row -> Rows.id(row, "id"), INSERT, columns(connection, jobs, payloads))) {
        standsFor.put(id, id);
      }
    } catch (SQLException trouble) {
      if (SqlErrors.isBadData(trouble)) {
        throw notStorable(jobs, trouble);
      }
      if (SqlErrors.isLockNotFree(trouble) && !unique.isEmpty()) {
        throw keyHeld(unique, trouble);
      }
      throw trouble;
    }
    List<Job> inserted = jobs.stream().filter(job -> standsFor.containsKey(job.id())).toList();
    List<Job> skipped = jobs.stream().filter(job -> !standsFor.containsKey(job.id())).toList();
    if (!skipped.isEmpty()) {
      Rows.list(
          connection,
          row -> standsFor.put(Rows.id(row, "asked"), Rows.id(row, "id")),
          WHO_STANDS_FOR,
          Rows.array(connection, "uuid", skipped, Job::id),
          Rows.array(connection, "text", skipped, Job::tenant),
          Rows.array(connection, "text", skipped, Job::kind),
          Rows.array(connection, "text", skipped, j -> j.unique() == null ? null : uniqueKey(j)));
      List<Job> again =
          skipped.stream().filter(job -> job.id().equals(standsFor.get(job.id()))).toList();
      if (!again.isEmpty()) {
        mustBeTheSame(connection, again, payloads);
      }
    }
    return inserted;
  }

  /**
   * A second job of an id is the first one, handed in again; with another content it is neither.
   */
  private static void mustBeTheSame(
      Connection connection, List<Job> jobs, Map<JobId, Json> payloads) throws SQLException {
    List<JobId> others =
        Rows.list(
            connection,
            row -> Rows.id(row, "id"),
            OTHERS_OF_THE_ID,
            Rows.array(connection, "uuid", jobs, Job::id),
            Rows.array(connection, "text", jobs, Job::queue),
            Rows.array(connection, "text", jobs, Job::kind),
            Rows.array(connection, "int2", jobs, Job::priority),
            Rows.array(connection, "int4", jobs, Job::maxAttempts),
            Rows.array(connection, "int4", jobs, Job::maxCrashes),
            Rows.array(connection, "int8", jobs, Job::timeout),
            Rows.array(connection, "text", jobs, j -> j.unique() == null ? null : uniqueKey(j)),
            Rows.array(connection, "text", jobs, Job::tenant),
            Rows.array(connection, "text", jobs, Job::workspace),
            Rows.array(connection, "uuid", jobs, Job::run),
            Rows.array(connection, "text", jobs, Job::runKey),
            Rows.array(connection, "uuid", jobs, Job::parent),
            Rows.array(connection, "text", jobs, AttributesJson::of),
            Rows.array(connection, "text", jobs, job -> payloads.get(job.id())));
    if (!others.isEmpty()) {
      throw new RefusedException(
          Refusal.ID_TAKEN,
          "the id %s is that of another job, which differs in more than its times: choose another one"
              .formatted(others.getFirst()));
    }
  }

  private static Object[] columns(Connection c, List<Job> jobs, Map<JobId, Json> payloads)
      throws SQLException {
    return new Object[] {
      Rows.array(c, "uuid", jobs, Job::id),
      Rows.array(c, "text", jobs, Job::queue),
      Rows.array(c, "text", jobs, Job::kind),
      Rows.array(c, "int2", jobs, Job::priority),
      Rows.array(c, "timestamptz", jobs, Job::runAt),
      Rows.array(c, "int8", jobs, job -> job.delay().toMillis()),
      Rows.array(c, "int4", jobs, Job::maxAttempts),
      Rows.array(c, "int4", jobs, Job::maxCrashes),
      Rows.array(c, "int8", jobs, Job::timeout),
      Rows.array(c, "timestamptz", jobs, Job::deadline),
      Rows.array(c, "text", jobs, job -> job.unique() == null ? null : uniqueKey(job)),
      Rows.array(c, "int2", jobs, Enqueue::uniqueStates),
      Rows.array(c, "int8", jobs, job -> job.unique() == null ? null : job.unique().window()),
      Rows.array(c, "text", jobs, Job::concurrencyKey),
      Rows.array(c, "int4", jobs, j -> j.concurrencyKey() == null ? null : j.concurrencyLimit()),
      Rows.array(c, "text", jobs, Job::tenant),
      Rows.array(c, "text", jobs, Job::workspace),
      Rows.array(c, "uuid", jobs, Job::run),
      Rows.array(c, "text", jobs, Job::runKey),
      Rows.array(c, "uuid", jobs, Job::parent),
      Rows.array(c, "text", jobs, j -> j.after().isEmpty() ? null : j.whenDependencyFails().name()),
      Rows.array(c, "text", jobs, AttributesJson::of),
      Rows.array(c, "text", jobs, job -> payloads.get(job.id()))
    };
  }

  private Map<JobId, Json> checked(List<Job> jobs) {
    if (jobs.size() > Limits.BULK_JOBS) {
      throw new RefusedException(
          Refusal.TOO_MANY_JOBS,
          "%,d jobs at once are over the limit of %,d: enqueue them in several calls"
              .formatted(jobs.size(), Limits.BULK_JOBS));
    }
    Payloads payloads = new Payloads();
    jobs.forEach(job -> payloads.add(job, Limits.payload(codec.encode(job.payload()))));
    return payloads.byJob;
  }

  /** The payloads of one enqueue, within its limits. */
  private static final class Payloads {
    final Map<JobId, Json> byJob = new HashMap<>();
    private long bytes;

    void add(Job job, Json payload) {
      if (byJob.put(job.id(), payload) != null) {
        throw new RefusedException(
            Refusal.BAD_ID, "job " + job.id() + " stands twice in one enqueue");
      }
      bytes += Limits.bytes(payload);
      if (bytes > Limits.BULK_BYTES) {
        throw new RefusedException(
            Refusal.PAYLOAD_TOO_LARGE,
            "the payloads of one enqueue are over the limit of %,d bytes: enqueue them in several calls"
                .formatted(Limits.BULK_BYTES));
      }
    }
  }

  private static RefusedException notStorable(List<Job> jobs, SQLException trouble) {
    String which =
        jobs.size() == 1
            ? "the payload of job " + jobs.getFirst().id()
            : "a payload among these " + jobs.size() + " jobs";
    if (jobs.stream().anyMatch(job -> job.resources() != null)) {
      which += ", or what is said of resources,";
    }
    RefusedException refused =
        new RefusedException(
            Refusal.PAYLOAD_NOT_JSON,
            which + " is not JSON that PostgreSQL can store; nothing was enqueued");
    refused.initCause(trouble);
    return refused;
  }

  /** The unique index lets whoever comes second wait for the first, whose transaction is open. */
  private static DatabaseException keyHeld(List<Job> unique, SQLException trouble) {
    String which =
        unique.size() == 1
            ? "the unique key '%s' of kind '%s'"
                .formatted(uniqueKey(unique.getFirst()), unique.getFirst().kind())
            : "one of these %d unique keys, '%s' … '%s',"
                .formatted(
                    unique.size(), uniqueKey(unique.getFirst()), uniqueKey(unique.getLast()));
    return new DatabaseException(
        DatabaseException.Reason.UNIQUE_KEY_HELD,
        "%s is held by another open transaction, and did not come free in time; nothing was enqueued: try again once that transaction has ended, and keep transactions short that enqueue"
            .formatted(which),
        trouble);
  }

  private static boolean hasUnique(List<Job> jobs) {
    return jobs.stream().anyMatch(job -> job.unique() != null);
  }

  private static boolean takesMoreThanOneStatement(List<Job> jobs) {
    return jobs.stream().anyMatch(job -> job.unique() != null || !job.after().isEmpty());
  }

  private static String uniqueKey(Job job) {
    Unique unique = job.unique();
    return unique == null ? "" : unique.key();
  }

  private static int uniqueStates(Job job) {
    Unique unique = job.unique();
    return unique == null ? 0 : JobState.bits(unique.states());
  }

  private static Set<String> dueQueues(List<Job> jobs) {
    Set<String> queues = new LinkedHashSet<>();
    for (Job job : jobs) {
      // Worth a ring also when due a little later: the worker then learns how long to wait.
      if (job.delay().compareTo(Duration.ofMinutes(1)) < 0) {
        queues.add(job.queue());
      }
    }
    return queues;
  }
}
