package dev.holdfast.queue.batch;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.job.JobId;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Runs verbs that read or write rows of running jobs. Jobs in batch claims run too, and have no
 * such rows; they are materialized here, before or after the statement of the verb, as its caller
 * chooses by the method. Nothing else materializes them, so a verb does not know of batches.
 *
 * <ul>
 *   <li>{@link #reading}: what it reads is materialized before, or once it was not found.
 *   <li>{@link #changing}: it changes jobs that may be PENDING. Their rows are locked, and batch
 *       claims are kept out until the transaction ends.
 *   <li>{@link #holding}: a worker's verb, which names leases. Those it did not find are
 *       materialized, and it runs again for them. {@link #extending} is the same for heartbeats.
 *   <li>{@link #sweeping}: batch claims that are old, or of a worker that is dead, before.
 *   <li>{@link #counting}: a claim by rules, under the lock of its queue.
 * </ul>
 */
public final class MaterializedJobs {
  private final Database database;

  public MaterializedJobs(Database database) {
    this.database = database;
  }

  /** Reads that find jobs by what their rows say: all jobs in batches are materialized before. */
  public <T> T reading(String verb, Database.Work<T> read) {
    return database.run(
        verb,
        connection -> {
          MaterializeBatch.beforeReading(connection);
          return read.on(connection);
        });
  }

  public <T> T reading(String verb, List<JobId> jobs, Database.Work<T> read) {
    return database.run(
        verb,
        connection -> {
          MaterializeBatch.beforeReading(connection, jobs);
          return read.on(connection);
        });
  }

  /**
   * Reads that mostly find what they look for, and read again if not.
   *
   * @param found whether the answer is that of jobs that are in no batch
   */
  public <T> T reading(
      String verb, List<JobId> jobs, Database.Work<T> read, Predicate<? super T> found) {
    return database.run(
        verb,
        connection -> {
          T answer = read.on(connection);
          if (found.test(answer)) {
            return answer;
          }
          MaterializeBatch.beforeReading(connection, jobs);
          return read.on(connection);
        });
  }

  /** Reads the jobs of one worker. */
  public <T> T reading(String verb, String worker, Database.Work<T> read) {
    return database.run(
        verb,
        connection -> {
          MaterializeBatch.ofWorkers(connection, worker);
          return read.on(connection);
        });
  }

  /**
   * In one transaction.
   *
   * @param lock locks what the verb changes
   */
  public <T> T changing(String verb, Database.Work<List<LockedJob>> lock, Database.Work<T> change) {
    return database.transact(verb, connection -> changing(connection, lock, change));
  }

  /** In the caller's transaction. */
  public static <T> T changing(
      Connection connection, Database.Work<List<LockedJob>> lock, Database.Work<T> change)
      throws SQLException {
    return changing(connection, lock, (in, locked) -> change.on(in));
  }

  /** Changes jobs whose rows are locked. */
  public interface Change<T> {
    T of(Connection connection, List<LockedJob> locked) throws SQLException;
  }

  /** For a verb that finds its jobs when it locks them, and must not find others then. */
  public static <T> T changing(
      Connection connection, Database.Work<List<LockedJob>> lock, Change<T> change)
      throws SQLException {
    List<LockedJob> locked = lock.on(connection);
    List<LockedJob> unclaimed = locked.stream().filter(LockedJob::notMaterialized).toList();
    MaterializeBatch.beforeChange(
        connection,
        unclaimed.stream().map(LockedJob::job).toList(),
        unclaimed.stream().map(LockedJob::queue).collect(Collectors.toSet()));
    return change.of(connection, locked);
  }

  /** Writes one kind of ending or report; answers with the leases it was written for. */
  public interface Verb<S> {
    Set<Lease> all(Connection connection, List<S> batch) throws SQLException;
  }

  /** A worker's verb, of one statement for all that it is given. */
  public <S> Set<Lease> holding(
      String verb, List<S> batch, Function<? super S, Lease> lease, Verb<S> write) {
    return database.run(verb, connection -> holding(connection, batch, lease, write));
  }

  /** In the caller's transaction. */
  public static <S> Set<Lease> holding(
      Connection connection, List<S> batch, Function<? super S, Lease> lease, Verb<S> write)
      throws SQLException {
    Set<Lease> done = new HashSet<>(write.all(connection, batch));
    List<S> left =
        batch.stream()
            .filter(each -> lease.apply(each).attempt() == BatchClaims.ATTEMPT)
            .filter(each -> !done.contains(lease.apply(each)))
            .toList();
    if (!left.isEmpty()) {
      MaterializeBatch.leases(connection, left.stream().map(lease).toList());
      done.addAll(write.all(connection, left));
    }
    return done;
  }

  public Ack holding(String verb, Lease lease, Database.Work<Ack> write) {
    return holding(verb, lease, write, ack -> ack == Ack.ACCEPTED);
  }

  /**
   * @param found whether the verb has found the job
   */
  public <T> T holding(
      String verb, Lease lease, Database.Work<T> work, Predicate<? super T> found) {
    return database.run(verb, connection -> holding(connection, lease, work, found));
  }

  /** For verbs of several statements. */
  public Ack holdingInTransaction(String verb, Lease lease, Database.Work<Ack> write) {
    return database.transactByKey(
        verb, connection -> holding(connection, lease, write, ack -> ack == Ack.ACCEPTED));
  }

  private static <T> T holding(
      Connection connection, Lease lease, Database.Work<T> work, Predicate<? super T> found)
      throws SQLException {
    T answer = work.on(connection);
    if (found.test(answer) || lease.attempt() != BatchClaims.ATTEMPT) {
      return answer;
    }
    MaterializeBatch.leases(connection, List.of(lease));
    return work.on(connection);
  }

  /** Before a handler's own transaction settles its job, for others to see that it runs. */
  public void show(String verb, Lease lease) {
    database.run(verb, connection -> MaterializeBatch.unlocked(connection, List.of(lease)));
  }

  /** A heartbeat, which does not wait for rows that handlers have locked in their transactions. */
  public interface Extending<T> {
    /** Most rows are found by this. The answer is those that were not. */
    List<Lease> first(Connection connection) throws SQLException;

    /**
     * Looks at those again.
     *
     * @param inBatches those whose rows are locked, so that they are not materialized, and whether
     *     their leases have run out
     * @return leases that have run out: whoever has locked them may be reaping them
     */
    List<Lease> again(Connection connection, List<Lease> leases, Map<Lease, Boolean> inBatches)
        throws SQLException;

    /** Waits for the rows, in a transaction. */
    void lock(Connection connection, List<Lease> runOut) throws SQLException;

    /** What they are now, in the same transaction. */
    void last(Connection connection, List<Lease> runOut) throws SQLException;

    T answer();
  }

  /**
   * @param lockTimeout how long to wait for rows that a reaper may have locked
   * @param heartbeat makes one for each time it is tried
   */
  public <T> T extending(
      String verb, Duration lockTimeout, Supplier<? extends Extending<T>> heartbeat) {
    return database.run(verb, connection -> extending(connection, lockTimeout, heartbeat.get()));
  }

  static <T> T extending(Connection connection, Duration lockTimeout, Extending<T> heartbeat)
      throws SQLException {
    List<Lease> left = heartbeat.first(connection);
    if (!left.isEmpty()) {
      Map<Lease, Boolean> inBatches =
          MaterializeBatch.unlocked(connection, left).stream()
              .filter(found -> !found.materialized())
              .collect(
                  Collectors.toMap(
                      MaterializeBatch.Found::lease,
                      MaterializeBatch.Found::runOut,
                      Boolean::logicalOr));
      List<Lease> runOut = heartbeat.again(connection, left, inBatches);
      if (!runOut.isEmpty()) {
        afterLocking(connection, lockTimeout, heartbeat, runOut);
      }
    }
    return heartbeat.answer();
  }

  /** Rows that stay locked are those of a handler's own transaction, and not of a reaper. */
  private static void afterLocking(
      Connection connection, Duration lockTimeout, Extending<?> heartbeat, List<Lease> runOut)
      throws SQLException {
    try {
      Database.inTransaction(
          connection,
          "SET LOCAL lock_timeout = " + lockTimeout.toMillis(),
          in -> {
            heartbeat.lock(in, runOut);
            MaterializeBatch.leases(in, runOut);
            heartbeat.last(in, runOut);
            return true;
          });
    } catch (SQLException e) {
      if (!SqlErrors.isLockNotFree(e)) {
        throw e;
      }
    }
  }

  /** In one transaction, after another one for batch claims that are older than most become. */
  public <T> T sweeping(String verb, Database.Work<T> sweep) {
    run(verb, MaterializeBatch::old);
    return database.transact(verb, sweep);
  }

  /** In one transaction, after another one for batch claims of workers with this prefix. */
  public <T> T sweeping(String verb, String namePrefix, Database.Work<T> sweep) {
    run(verb, connection -> MaterializeBatch.ofWorkers(connection, namePrefix));
    return database.transact(verb, sweep);
  }

  private interface Statements {
    void on(Connection connection) throws SQLException;
  }

  private void run(String verb, Statements statements) {
    database.run(
        verb,
        connection -> {
          statements.on(connection);
          return true;
        });
  }

  /** What a claim by rules does with what it has counted. */
  public interface Counted<R, T> {
    T take(Connection connection, R counted) throws SQLException;
  }

  /**
   * In one transaction, which the first statement begins. What is counted are jobs of the queue and
   * of the worker; jobs in batches run, so if there are any, they are materialized and counted.
   *
   * @param count locks the queue against batch claims first
   * @param inBatches whether some of the jobs are in batches
   */
  public <R, T> T counting(
      String queue,
      String worker,
      Database.Work<R> count,
      Predicate<R> inBatches,
      Counted<R, T> take) {
    return database.transactBegunByWork(
        "claim",
        connection -> {
          R counted = count.on(connection);
          if (inBatches.test(counted)) {
            MaterializeBatch.ofQueue(connection, queue, worker);
            counted = count.on(connection);
          }
          return take.take(connection, counted);
        });
  }
}
