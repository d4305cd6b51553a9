package dev.holdfast.queue;

import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.value.Codec;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.enqueue.EnqueueDefaults;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.schema.Schema;
import dev.holdfast.queue.schema.SchemaCheck;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.wait.EndedJobs;
import java.time.Duration;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/** The jobs in a database, and its verbs by concern. Owns the connections they run on. */
public final class JobStore implements AutoCloseable {
  private static final Duration HEARTBEAT_ANSWER = Duration.ofSeconds(10);

  private final DataSource dataSource;
  private final Database database;
  private final Database heartbeats;
  private final QueueNotifier notifier;
  private final EnqueueDefaults defaults;
  private final EndedJobs endedJobs;
  private final JobQueue jobs;
  private final Queries queries;
  private final Admin admin;
  private final Maintenance maintenance;
  private final WorkerRegistry workers;
  private final Notices notices;
  private volatile boolean schemaChecked;
  private volatile Duration startTimeout = Duration.ofSeconds(15);

  public JobStore(DataSource dataSource, Codec codec, Options options) {
    this.dataSource = dataSource;
    this.database = Database.pooled(dataSource, options.observer(), options.connections());
    this.heartbeats = database.dedicated(dataSource, HEARTBEAT_ANSWER);
    this.notifier = new QueueNotifier(database, dataSource);
    this.defaults = new EnqueueDefaults(options.retries());
    Enqueue enqueue = new Enqueue(database, notifier, codec, defaults);
    Backoff backoff = new Backoff(options.retries());
    this.endedJobs = new EndedJobs(database, notifier, options.freeAtOnce());
    this.jobs =
        new JobQueue(database, heartbeats, notifier, codec, enqueue, endedJobs, backoff, options);
    this.queries = new Queries(database);
    this.admin = new Admin(database, notifier, codec, enqueue, defaults);
    this.maintenance = new Maintenance(database, notifier, enqueue, endedJobs);
    this.workers = WorkerRegistry.on(database, notifier, endedJobs);
    this.notices = new Notices(database);
  }

  /**
   * @param connections how many connections of the pool the verbs may use at once
   * @param retries what holds for jobs that do not say how often, and how soon, they are retried
   * @param batchFrom a claim after one that found so many jobs writes one row for all of its jobs,
   *     see {@link dev.holdfast.model.attempt.ClaimRequest.Receiver#LOCAL_IN_BATCHES}
   * @param nanos measures what claims cost, by which the next full index scan is put off
   */
  public record Options(
      int connections,
      StatementObserver observer,
      RetryDefaults retries,
      int batchFrom,
      LongSupplier nanos,
      boolean freeAtOnce) {
    /** Fewer are claimed as quickly row by row, and such claims do not wait for each other. */
    private static final int BACKLOG = 100;

    /** Eight connections, no observer. */
    public static final Options DEFAULT =
        new Options(8, StatementObserver.NONE, RetryDefaults.NONE);

    public Options(int connections, StatementObserver observer, RetryDefaults retries) {
      this(connections, observer, retries, BACKLOG, System::nanoTime, true);
    }

    public Options(int connections, StatementObserver observer) {
      this(connections, observer, RetryDefaults.NONE);
    }

    /** How many connections of the pool the verbs may use at once. */
    public Options connections(int value) {
      return new Options(value, observer, retries, batchFrom, nanos, freeAtOnce);
    }

    /** Called after every statement. */
    public Options observer(StatementObserver value) {
      return new Options(connections, value, retries, batchFrom, nanos, freeAtOnce);
    }

    /** From how large a backlog on claims are made in batches. */
    public Options batchFrom(int value) {
      return new Options(connections, observer, retries, value, nanos, freeAtOnce);
    }

    /** By which clock the cost of claims is measured. */
    public Options nanos(LongSupplier value) {
      return new Options(connections, observer, retries, batchFrom, value, freeAtOnce);
    }

    /**
     * Whether the end of a job frees at once, on another thread, what waits for it; otherwise a
     * sweep does, or a claim that finds nothing else.
     */
    public Options freeAtOnce(boolean value) {
      return new Options(connections, observer, retries, batchFrom, nanos, value);
    }

    /** What holds for jobs that do not say how often they are retried. */
    public Options retries(RetryDefaults value) {
      return new Options(connections, observer, value, batchFrom, nanos, freeAtOnce);
    }
  }

  /** The life of a job, from its enqueue to its end. */
  public JobQueue jobs() {
    return jobs;
  }

  /** What jobs are enqueued with, by kind, where they do not say so; see Holdfast.defaults. */
  public EnqueueDefaults defaults() {
    return defaults;
  }

  /** Reads jobs. */
  public Queries queries() {
    return queries;
  }

  /** Settings of queues, schedules, dispatches and keys. */
  public Admin admin() {
    return admin;
  }

  /** What reapers run; a worker has its own. */
  public Maintenance maintenance() {
    return maintenance;
  }

  /** Worker processes and their supervisors; for supervisors. */
  public WorkerRegistry workers() {
    return workers;
  }

  /** What servers tell others of the questions that jobs ask. */
  public Notices notices() {
    return notices;
  }

  /** Subscribes to the queues that have work; for workers. */
  public QueueNotifier notifier() {
    return notifier;
  }

  /** Throws a {@link DatabaseException} that says what is wrong, if anything is. */
  public void check(boolean allowUnsafe) {
    database.run(
        "check",
        connection -> {
          Schema.check(connection, allowUnsafe);
          return true;
        });
    schemaChecked = true;
  }

  /**
   * Throws a {@link DatabaseException} that says what to do unless a worker can start here: the
   * database can be reached, the pool has the connections a worker needs, and the schema is the
   * right one, which is not checked again after {@link #check}.
   *
   * @param listens whether the worker is going to subscribe
   */
  public void checkWorker(boolean listens) {
    SchemaCheck.run(
        heartbeats, dataSource, listens, notifier.subscriptions(), !schemaChecked, startTimeout);
    schemaChecked = true;
  }

  /** How long a worker that starts waits for each of its connections. */
  void startTimeout(Duration timeout) {
    startTimeout = timeout;
  }

  /** Of the server and of the schema. */
  public DatabaseVersion version() {
    return database.run("version", Schema::about);
  }

  @Override
  public void close() {
    endedJobs.close();
    notifier.close();
    heartbeats.close();
    database.close();
  }
}
