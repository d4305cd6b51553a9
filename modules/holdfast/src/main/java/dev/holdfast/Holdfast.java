package dev.holdfast;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobDefaults;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.PayloadType;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.JobQueue;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import dev.holdfast.queue.jdbc.SqlErrors;
import dev.holdfast.worker.artifact.ArtifactStore;
import dev.holdfast.worker.artifact.FolderStore;
import dev.holdfast.worker.handler.JobContext;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.LeaseLostException;
import dev.holdfast.worker.maintenance.Upkeep;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Metrics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Entry point of the library: made from a DataSource, it enqueues jobs and builds workers.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.on(dataSource);
 * holdfast.enqueue(Job.of("send-mail", new Mail("ada@example.org", "Hello")).queue("mail"));
 * Worker worker = holdfast.worker("mail")
 *     .handle("send-mail", Mail.class, (mail, context) -> smtp.send(mail).receipt())
 *     .start();
 * }</pre>
 */
public final class Holdfast implements AutoCloseable {
  private final DataSource dataSource;
  private final Codec codec;
  private final JobStore store;
  private volatile @Nullable DeleteOldJobs deleteOldJobs;
  private volatile CurrentTransaction transaction = CurrentTransaction.NONE;
  private volatile EnqueueMiddleware enqueueMiddleware = EnqueueMiddleware.NONE;

  private Holdfast(DataSource dataSource, Codec codec, JobStore.Options options) {
    this.dataSource = dataSource;
    this.codec = codec;
    this.store = new JobStore(dataSource, codec, options);
  }

  /**
   * A worker keeps two connections of the pool for itself, to heartbeat and to listen, and works
   * with a few more: give the pool those and one for each handler that takes its own from it.
   */
  public static Holdfast on(DataSource dataSource) {
    return on(dataSource, new JacksonCodec(), JobStore.Options.DEFAULT);
  }

  /** The same with your own codec and options. */
  public static Holdfast on(DataSource dataSource, Codec codec, JobStore.Options options) {
    return new Holdfast(dataSource, codec, options);
  }

  /**
   * Returns once the job is durable. When the answer is lost, it is asked for by the job's id. In a
   * transaction that this object {@linkplain #joining joins}, the job is durable when that commits.
   */
  public Enqueued enqueue(Job job) {
    return around(
            List.of(job),
            jobs -> {
              Connection joined = transaction.connection();
              return joined == null
                  ? List.of(store.jobs().enqueue(jobs.getFirst()))
                  : store.jobs().enqueue(joined, jobs);
            })
        .getFirst();
  }

  /** All of them or none. */
  public List<Enqueued> enqueue(List<Job> all) {
    return around(
        all,
        jobs -> {
          Connection joined = transaction.connection();
          return joined == null ? store.jobs().enqueue(jobs) : store.jobs().enqueue(joined, jobs);
        });
  }

  private List<Enqueued> around(List<Job> jobs, EnqueueMiddleware.Next write) {
    try {
      // Before middleware, which may want to know the queue.
      return enqueueMiddleware.enqueue(store.defaults().declared(jobs), write);
    } catch (SQLException e) {
      throw SqlErrors.inCallersTransaction("enqueue", e);
    }
  }

  /**
   * Commits with the caller's own writes, or not at all. Whoever else asks for its unique key waits
   * until then, for some seconds.
   */
  public Enqueued enqueue(Connection connection, Job job) throws SQLException {
    return enqueue(connection, List.of(job)).getFirst();
  }

  /** All of them or none, with the caller's own writes. */
  public List<Enqueued> enqueue(Connection connection, List<Job> all) throws SQLException {
    return enqueueMiddleware.enqueue(
        store.defaults().declared(all), jobs -> store.jobs().enqueue(connection, jobs));
  }

  /**
   * Tells a job something, for which its handler waits or will wait. In a transaction that this
   * object {@linkplain #joining joins}, the job is told when that commits.
   *
   * @param payload anything the codec can turn into JSON
   */
  public SignalToJob.Answer signal(JobId job, String name, Object payload) {
    SignalToJob signal = new SignalToJob(name, codec.encode(payload), null, "");
    Connection joined = transaction.connection();
    try {
      return joined == null
          ? store.jobs().signal(job, signal, Tenant.ANY)
          : store.jobs().signal(joined, job, signal, Tenant.ANY);
    } catch (SQLException e) {
      throw SqlErrors.inCallersTransaction("signal", e);
    }
  }

  /** The same with the caller's own writes, or not at all. */
  public SignalToJob.Answer signal(Connection connection, JobId job, String name, Object payload)
      throws SQLException {
    return store
        .jobs()
        .signal(
            connection, job, new SignalToJob(name, codec.encode(payload), null, ""), Tenant.ANY);
  }

  /**
   * The same to the job of this kind that holds a unique key, of the tenant of jobs without one.
   */
  public SignalToJob.Answer signal(String kind, String uniqueKey, String name, Object payload) {
    SignalToJob signal = new SignalToJob(name, codec.encode(payload), null, "");
    Tenant tenant = Tenant.of(Job.DEFAULT_OWNER);
    Connection joined = transaction.connection();
    try {
      return (joined == null
              ? store.jobs().signal(kind, uniqueKey, signal, tenant)
              : store.jobs().signal(joined, kind, uniqueKey, signal, tenant))
          .answer();
    } catch (SQLException e) {
      throw SqlErrors.inCallersTransaction("signal", e);
    }
  }

  /**
   * Settles the attempt inside the handler's own transaction: its effect and the end of its job
   * happen together, exactly once. Throws when the attempt has lost its lease, so that the
   * transaction rolls back. Commit soon after: until then the job's row is locked.
   */
  public void succeed(Connection connection, JobContext context, @Nullable Object result)
      throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "succeed needs the transaction of the handler's own writes: turn auto-commit off");
    }
    Json json = result == null ? null : codec.encode(result);
    Settlement.Succeed settlement = new Settlement.Succeed(context.lease(), json);
    context.settlingInTransaction();
    if (store.jobs().succeed(connection, settlement) == Ack.LEASE_LOST) {
      throw new LeaseLostException(context.lease());
    }
  }

  /**
   * The same in the transaction of the calling thread, which this object {@link #joining joins}.
   */
  public void succeed(JobContext context, @Nullable Object result) {
    Connection joined = transaction.connection();
    if (joined == null) {
      throw new IllegalStateException(
          "succeed needs the transaction of the handler's own writes, and this thread has none");
    }
    try {
      succeed(joined, context, result);
    } catch (SQLException e) {
      throw SqlErrors.inCallersTransaction("succeed", e);
    }
  }

  /**
   * From now on jobs of this kind that are enqueued by this object, or stored in a schedule by it,
   * have these values where they do not say so themselves. For services that enqueue jobs and do
   * not run them: a worker of this object that has a {@link Kind} with defaults declares them.
   */
  public Holdfast defaults(String kind, JobDefaults values) {
    store.defaults().declare(kind, values);
    return this;
  }

  private void declare(Kind<?> kind) {
    if (!kind.defaults().equals(JobDefaults.NONE)) {
      defaults(kind.name(), kind.defaults());
    }
  }

  /**
   * Changes priority, time or payload of a job that no worker has claimed yet; the answer says
   * whether it was. Empty when there is no such job.
   */
  public Optional<JobEdit.Answer> edit(JobId job, JobEdit edit) {
    return store.jobs().edit(job, edit, Tenant.ANY);
  }

  /**
   * Deletes a job that does not run, with its timeline, attempts and artifacts. Empty when there is
   * no such job.
   */
  public Optional<Deletion> delete(JobId job) {
    return store.jobs().delete(job, Tenant.ANY);
  }

  /** Empty when there is no such job. */
  public Optional<Cancellation> cancel(JobId job, String reason) {
    return store.jobs().cancel(List.of(job), false, reason, Tenant.ANY).stream().findFirst();
  }

  /** A job as it is now; empty when there is none of this id. */
  public Optional<JobStatus> find(JobId job) {
    return store.queries().find(job);
  }

  /**
   * What the handler of a job that succeeded has returned, read by the codec.
   *
   * @return empty when it has returned nothing, or has not succeeded, or is not there
   */
  public <T> Optional<T> result(JobId job, Class<T> type) {
    return result(job, PayloadType.of(type));
  }

  /** The same for types with parameters: {@code new PayloadType<List<Receipt>>() {}}. */
  public <T> Optional<T> result(JobId job, PayloadType<T> type) {
    return find(job)
        .filter(found -> found.state() == JobState.SUCCEEDED)
        .map(JobStatus::result)
        .map(result -> codec.decode(result, type));
  }

  /**
   * Waits until the job has ended, on whichever worker, and says how.
   *
   * @return empty when it has not ended after this time, or is not there
   */
  public Optional<JobStatus> await(JobId job, Duration timeout) throws InterruptedException {
    return AwaitJob.end(store.queries(), job, timeout);
  }

  /** The life of a job, with the verbs that are not on this class. */
  public JobQueue jobs() {
    return store.jobs();
  }

  /** Reads jobs: lists, counts, timelines, steps, logs. */
  public Queries queries() {
    return store.queries();
  }

  /** Queues, their limits and their schedules. */
  public Admin admin() {
    return store.admin();
  }

  /** All operations on the database, also those that only servers and supervisors need. */
  public JobStore store() {
    return store;
  }

  /**
   * Deletes jobs that ended long enough ago. Workers and {@link #upkeep} of this object do it from
   * time to time, if they are made after this call.
   */
  public Holdfast retention(JobRetention policy) {
    return retention(policy, new FolderStore(WorkerBuilder.DEFAULT_FOLDER));
  }

  /** The same where workers put artifacts into another store than the default. */
  public Holdfast retention(JobRetention policy, ArtifactStore artifacts) {
    return retention(policy, artifacts, DeleteOldJobs.FIRST);
  }

  Holdfast retention(JobRetention policy, ArtifactStore artifacts, Duration first) {
    deleteOldJobs =
        new DeleteOldJobs(store.maintenance(), policy, artifacts, first, System::nanoTime);
    return this;
  }

  /**
   * From now on {@link #enqueue(Job)}, {@link #enqueue(List)} and {@link #succeed(JobContext,
   * Object)} join the transaction that the calling thread has, if it has one. For integrations with
   * frameworks that keep transactions by thread.
   */
  public Holdfast joining(CurrentTransaction current) {
    transaction = current;
    return this;
  }

  /** From now on this runs around every enqueue, in place of what did before. */
  public Holdfast aroundEnqueue(EnqueueMiddleware middleware) {
    enqueueMiddleware = middleware;
    return this;
  }

  Codec codec() {
    return codec;
  }

  /** The one that this object works on. */
  public DataSource dataSource() {
    return dataSource;
  }

  /** A worker for these queues, to be given handlers and started. */
  public WorkerBuilder worker(String... queues) {
    return new WorkerBuilder(
        new DirectSource(store), maintenance(), codec, List.of(queues), this::declare);
  }

  /**
   * A worker that needs no database: its jobs come from elsewhere, such as a server over HTTP.
   *
   * <pre>{@code
   * Worker worker = Holdfast.worker(HttpSource.to(URI.create("https://jobs.example.org"), key), "mail")
   *     .handle("send-mail", Mail.class, (mail, context) -> smtp.send(mail).receipt())
   *     .start();
   * }</pre>
   */
  public static WorkerBuilder worker(JobSource source, String... queues) {
    return worker(source, new JacksonCodec(), queues);
  }

  /** The same with your own codec. */
  public static WorkerBuilder worker(JobSource source, Codec codec, String... queues) {
    return new WorkerBuilder(source, null, codec, List.of(queues), kind -> {});
  }

  /**
   * Sweeps the queue for as long as it is open, as workers do; for servers without a worker. Takes
   * no lease back before one lease time has passed.
   */
  public Upkeep upkeep(Timings timings, Metrics metrics) {
    return new Upkeep(maintenance().ofServer(timings, metrics)).start();
  }

  private QueueUpkeep maintenance() {
    return new QueueUpkeep(store, deleteOldJobs, System::nanoTime);
  }

  /** Throws a message that says what to do when the database is not fit for use. */
  public Holdfast check() {
    store.check(false);
    return this;
  }

  @Override
  public void close() {
    store.close();
  }
}
