package dev.holdfast.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Attempt;
import dev.holdfast.model.attempt.Background;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.Delivery;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.LogTail;
import dev.holdfast.model.attempt.Patch;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.PublishedArtifact;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.ReportedCompletion;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.StepStatus;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobCount;
import dev.holdfast.model.job.JobEvent;
import dev.holdfast.model.job.JobFilter;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobPage;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.job.JobStateSnapshot;
import dev.holdfast.model.job.JobStatus;
import dev.holdfast.model.job.RetryDefaults;
import dev.holdfast.model.ops.ApiKey;
import dev.holdfast.model.ops.DatabaseVersion;
import dev.holdfast.model.ops.Dispatch;
import dev.holdfast.model.ops.DispatchTrouble;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.Statistics;
import dev.holdfast.model.ops.Throughput;
import dev.holdfast.model.ops.Warnings;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.schedule.Schedule;
import dev.holdfast.model.schedule.ScheduleStatus;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Moment;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.queue.admin.ApiKeys;
import dev.holdfast.queue.admin.Dispatches;
import dev.holdfast.queue.admin.KnownKey;
import dev.holdfast.queue.admin.KnownKinds;
import dev.holdfast.queue.admin.Queues;
import dev.holdfast.queue.admin.Retention;
import dev.holdfast.queue.admin.RotateKey;
import dev.holdfast.queue.admin.TokenKey;
import dev.holdfast.queue.admin.TokenKeys;
import dev.holdfast.queue.claim.Claim;
import dev.holdfast.queue.claim.Promote;
import dev.holdfast.queue.claim.Unblock;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.enqueue.EnqueueIdempotent;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.DatabaseException;
import dev.holdfast.queue.jdbc.Rows;
import dev.holdfast.queue.jdbc.StatementObserver;
import dev.holdfast.queue.notify.NotificationListener;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.notify.Subscription;
import dev.holdfast.queue.notify.WakeUpSource;
import dev.holdfast.queue.read.Artifacts;
import dev.holdfast.queue.read.ChangedJobs;
import dev.holdfast.queue.read.Count;
import dev.holdfast.queue.read.FinishedJobs;
import dev.holdfast.queue.read.Holders;
import dev.holdfast.queue.read.JobReader;
import dev.holdfast.queue.read.JobStates;
import dev.holdfast.queue.read.RecentThroughput;
import dev.holdfast.queue.read.Search;
import dev.holdfast.queue.recover.Expire;
import dev.holdfast.queue.recover.Reap;
import dev.holdfast.queue.recover.ReapResult;
import dev.holdfast.queue.recover.WarnOverdue;
import dev.holdfast.queue.report.AppendLog;
import dev.holdfast.queue.report.Log;
import dev.holdfast.queue.report.Publish;
import dev.holdfast.queue.report.Steps;
import dev.holdfast.queue.schedule.FireSchedules;
import dev.holdfast.queue.schedule.Schedules;
import dev.holdfast.queue.schema.Schema;
import dev.holdfast.queue.schema.SchemaCheck;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.settle.Complete;
import dev.holdfast.queue.settle.Heartbeat;
import dev.holdfast.queue.settle.Settle;
import dev.holdfast.queue.settle.Succeed;
import dev.holdfast.queue.settle.Undelivered;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The door of this room: every verb the queue knows, each in the file of its name.
 *
 * <p>All of them are safe to call from any thread and any process, and to call again when the
 * answer was lost. Leases are judged by the database's clock alone.
 */
public final class Queue implements AutoCloseable {
  private static final int SWEEP = 1_000;
  private static final int CREW = 1_000;
  private static final int CREW_JOBS = 1;
  private static final Duration HEARTBEAT_ANSWER = Duration.ofSeconds(10);

  private final DataSource dataSource;
  private final Codec codec;
  private final Database database;
  private final Database heartbeats;
  private final QueueNotifier doorbell;
  private final Enqueue enqueue;
  private final Claim claim;
  private final Backoff backoff;
  private final Settle settle;
  private final WorkerRegistry health;
  private final Set<NotificationListener> listeners = ConcurrentHashMap.newKeySet();
  private volatile boolean schemaChecked;
  private volatile Duration startPatience = Duration.ofSeconds(15);

  public Queue(DataSource dataSource, Codec codec, Options options) {
    this.dataSource = dataSource;
    this.codec = codec;
    this.database = Database.pooled(dataSource, options.observer(), options.connections());
    this.heartbeats = database.dedicated(dataSource, HEARTBEAT_ANSWER);
    this.doorbell = new QueueNotifier(database);
    this.enqueue = new Enqueue(database, doorbell, codec, options.retries());
    this.backoff = new Backoff(options.retries());
    this.claim = new Claim(database, backoff);
    this.settle = new Settle(database, backoff);
    this.health = new WorkerRegistry(database, doorbell);
  }

  /**
   * @param connections how many connections of the pool the verbs may use at once
   * @param retries what holds for jobs that do not say how often, and how soon, they are retried
   */
  public record Options(int connections, StatementObserver observer, RetryDefaults retries) {
    public static final Options DEFAULT =
        new Options(8, StatementObserver.NONE, RetryDefaults.NONE);

    public Options(int connections, StatementObserver observer) {
      this(connections, observer, RetryDefaults.NONE);
    }

    public Options retries(RetryDefaults value) {
      return new Options(connections, observer, value);
    }
  }

  /** Throws a {@link DatabaseException} that says what is wrong, unless all is well. */
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
   * Throws a {@link DatabaseException} that says what to do unless a worker can begin here: the
   * database can be reached, the pool has the connections a worker needs, and the schema is the
   * right one, which is not looked at again after {@link #check}.
   *
   * @param listens whether it is going to {@link #listen}
   */
  public void checkWorker(boolean listens) {
    listeners.removeIf(NotificationListener::isClosed);
    SchemaCheck.run(
        heartbeats, dataSource, listens, listeners.size(), !schemaChecked, startPatience);
    schemaChecked = true;
  }

  /** How long a worker that starts waits for each of its connections. */
  void startPatience(Duration patience) {
    startPatience = patience;
  }

  // ---- from the one who has work

  public Enqueued enqueue(Job job) {
    return enqueue.one(job);
  }

  public List<Enqueued> enqueue(List<Job> jobs) {
    return enqueue.all(jobs);
  }

  /** Inside the caller's transaction. */
  public List<Enqueued> enqueue(Connection connection, List<Job> jobs) throws SQLException {
    return enqueue.all(connection, jobs);
  }

  // ---- from the worker

  public Claimed claim(String queue, int most, String worker, Duration lease) {
    return claim.from(queue, most, worker, lease, null);
  }

  /** The leases that lie under a worker's name, to find those whose claim it never heard of. */
  public List<Lease> heldBy(String worker) {
    return database.run("held", connection -> Claim.heldBy(connection, worker));
  }

  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return leases.isEmpty()
        ? List.of()
        : heartbeats.run("heartbeat", connection -> Heartbeat.of(connection, leases, lease));
  }

  /** The same, for workers whose word is not enough: a lease that is another's is lost. */
  public List<HeartbeatResult> heartbeat(Map<Lease, String> workers, Duration lease) {
    if (workers.isEmpty()) {
      return List.of();
    }
    return heartbeats.run(
        "heartbeat",
        connection -> {
          Map<Lease, String> holders = JobStates.workers(connection, List.copyOf(workers.keySet()));
          List<Lease> theirs = new ArrayList<>();
          List<HeartbeatResult> pulses = new ArrayList<>();
          workers.forEach(
              (held, worker) -> {
                if (worker.equals(holders.get(held))) {
                  theirs.add(held);
                } else {
                  pulses.add(new HeartbeatResult(held, Ack.LEASE_LOST, null));
                }
              });
          if (!theirs.isEmpty()) {
            pulses.addAll(Heartbeat.of(connection, theirs, lease));
          }
          return pulses;
        });
  }

  /** The running jobs of a worker of whom something is asked: to stop, or by an operator. */
  public List<HeartbeatResult> signals(String worker) {
    return heartbeats.run("signals", connection -> Heartbeat.signalled(connection, worker));
  }

  /** The steps of a job, in their order, with all they left. */
  public List<StepStatus> steps(JobId job) {
    return database.run("steps", connection -> Steps.of(connection, job));
  }

  /** The same without their checkpoints, to look at. */
  public List<StepStatus> stepsOverview(JobId job) {
    return database.run("steps", connection -> Steps.overview(connection, job));
  }

  public Optional<StepStatus> step(JobId job, String step) {
    return database.run("step", connection -> Steps.one(connection, job, step));
  }

  /** What the job's programs printed last, from where a reader has come to. */
  public LogTail log(JobId job, LogCursor cursor) {
    return LogTail.after(
        cursor, database.run("log", connection -> Log.read(connection, job, cursor)));
  }

  /** Where the logs of these jobs end, of those that have one: moves whenever one of them grows. */
  public Map<JobId, LogCursor> logEnds(List<JobId> jobs) {
    return jobs.isEmpty()
        ? Map.of()
        : database.run("log", connection -> Log.ends(connection, jobs));
  }

  /** The changes that a step made in its workspace, if it is done and has one. */
  public Optional<Patch> patch(JobId job, String step) {
    return database.run("patch", connection -> Steps.patch(connection, job, step));
  }

  /**
   * Asks something of a job that runs in steps.
   *
   * @param tenant whose job it must be; null is everybody's
   */
  public JobCommand.Answer control(JobId job, JobCommand command, @Nullable String tenant) {
    Commands.Commanded commanded =
        database.transact(
            "control", connection -> Commands.command(connection, job, command, tenant));
    if (commanded.queue() != null) {
      doorbell.ring(List.of(commanded.queue()));
    }
    return commanded.answer();
  }

  /** Steps whose checkpoints what is asked of a job will drop. */
  public List<String> drops(JobId job) {
    return database.run("drops", connection -> Commands.drops(connection, job));
  }

  /** What is asked of a job at this moment. */
  public PendingCommand control(JobId job) {
    return database.run("controls", connection -> Commands.of(connection, job));
  }

  /** What workers should know before they begin; jobs of which there is nothing are left out. */
  public Map<JobId, Background> backgrounds(List<JobId> jobs) {
    return database.run("backgrounds", connection -> Commands.backgrounds(connection, jobs));
  }

  /** One answer per report, in their order. */
  public List<Ack> report(List<Report> reports) {
    return settle.report(reports);
  }

  /** Lines for an attempt's log. */
  public Ack log(LogLines lines) {
    return database.transact("log", connection -> AppendLog.write(connection, lines));
  }

  public Ack publish(Publication publication) {
    return database.run(
        "publish",
        connection ->
            Settle.storing(
                "publish", Refusal.RESULT_NOT_JSON, () -> Publish.all(connection, publication)));
  }

  /** One answer per settlement, in their order. */
  public List<Ack> settle(List<Settlement> settlements) {
    return settle.all(settlements);
  }

  public Ack settle(Settlement settlement) {
    return settle.all(List.of(settlement)).getFirst();
  }

  /**
   * Succeeds in the caller's transaction: the effect and the settle happen together or not at all.
   */
  public Ack succeed(Connection connection, Settlement.Succeed settlement) throws SQLException {
    return Settle.succeed(connection, settlement);
  }

  /** Whether this attempt is known to have succeeded. */
  public boolean succeeded(Lease lease) {
    return database.run(
        "succeeded", connection -> !Succeed.before(connection, List.of(lease)).isEmpty());
  }

  /**
   * Wakes the caller whenever one of the queues may have work, until it is closed. What is enqueued
   * here may be told twice: at once, and when the database announces it.
   */
  public WakeUpSource listen(Collection<String> queues, Consumer<String> wake) {
    // The names become part of a statement, where no parameter can stand.
    List<String> named = queues.stream().map(Limits::queue).toList();
    NotificationListener afar = listener(named, wake);
    return new Subscription(afar, doorbell, doorbell.hear(named, wake));
  }

  /** The same, for whoever has something to give out at each ring: told once, by the database. */
  public WakeUpSource listenOnce(Collection<String> queues, Consumer<String> wake) {
    return listener(queues.stream().map(Limits::queue).toList(), wake);
  }

  private NotificationListener listener(List<String> queues, Consumer<String> wake) {
    NotificationListener listener = new NotificationListener(dataSource, queues, wake);
    listeners.removeIf(NotificationListener::isClosed);
    listeners.add(listener);
    return listener;
  }

  public long depth(List<String> queues, long most) {
    return database.run("depth", connection -> Queues.depth(connection, queues, most, null));
  }

  // ---- from the operator

  /** Empty when there is no such job; its children follow it when cascading. */
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason, Duration grace) {
    return cancel(List.of(job), cascade, reason, grace, null);
  }

  /**
   * One answer per job that there is.
   *
   * @param tenant whose jobs may be cancelled; null is everybody's
   */
  public List<Cancellation> cancel(
      List<JobId> jobs, boolean cascade, String reason, Duration grace, @Nullable String tenant) {
    return database.run(
        "cancel", connection -> Cancel.of(connection, jobs, cascade, reason, grace, tenant));
  }

  /** The jobs that were put back into their queues. */
  public Set<JobId> retry(List<JobId> jobs) {
    return retry(jobs, null);
  }

  /** The same, for jobs of one tenant only. */
  public Set<JobId> retry(List<JobId> jobs, @Nullable String tenant) {
    List<Retry.Retried> retried =
        database.run("retry", connection -> Retry.all(connection, jobs, tenant));
    doorbell.ring(retried.stream().map(Retry.Retried::queue).distinct().toList());
    return retried.stream().map(Retry.Retried::job).collect(Collectors.toUnmodifiableSet());
  }

  public void pause(String queue) {
    database.run("pause", connection -> Queues.pause(connection, Limits.queue(queue)));
  }

  /** False when the queue was not paused. */
  public boolean resume(String queue) {
    boolean resumed =
        database.run("resume", connection -> Queues.resume(connection, Limits.queue(queue)));
    doorbell.ring(List.of(queue));
    return resumed;
  }

  /** No worker takes a job of any queue; what runs goes on. */
  public void pauseAll() {
    database.run("pause", connection -> Queues.pause(connection, Queues.EVERY));
  }

  /** Ends that; queues that are paused by themselves stay so. False when it was not so. */
  public boolean resumeAll() {
    boolean resumed = database.run("resume", connection -> Queues.resume(connection, Queues.EVERY));
    doorbell.ring(queues().stream().filter(each -> each.due() > 0).map(QueueStatus::name).toList());
    return resumed;
  }

  /** Since when every queue is paused; empty when they are not. */
  public Optional<Instant> allPausedSince() {
    return database.run("paused", Queues::allPausedSince);
  }

  /**
   * All workers: processes under supervisors, and whoever holds leases. One tenant sees only who
   * holds its jobs.
   */
  public WorkerFleet crew(@Nullable String tenant) {
    List<Holder> holders = holders(tenant, CREW_JOBS, CREW);
    return tenant == null
        ? new WorkerFleet(health.all(), health.supervisors(), holders, now())
        : WorkerFleet.of(holders, now());
  }

  /** Worker processes. */
  public WorkerRegistry health() {
    return health;
  }

  /** How many jobs of the queue may run at once over all workers; null lifts the limit. */
  public void limit(String queue, @Nullable Integer maxRunning) {
    if (maxRunning != null && maxRunning < 1) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "limit %,d of queue '%s' must be at least 1: to stop a queue, pause it"
              .formatted(maxRunning, queue));
    }
    database.run("limit", connection -> Queues.limit(connection, Limits.queue(queue), maxRunning));
    doorbell.ring(List.of(queue));
  }

  /** How many jobs of the queue may start in a span of time over all workers. */
  public void rate(String queue, int starts, Duration span) {
    if (starts < 1 || span.toDays() > 365 || span.compareTo(Duration.ofMillis(1)) < 0) {
      throw new RefusedException(
          Refusal.BAD_LIMIT,
          "a rate of %d per %s makes no sense: at least 1, per millisecond to year"
              .formatted(starts, span));
    }
    database.run("rate", connection -> Queues.rate(connection, Limits.queue(queue), starts, span));
    doorbell.ring(List.of(queue));
  }

  public void liftRate(String queue) {
    database.run("rate", connection -> Queues.rate(connection, Limits.queue(queue), null, null));
    doorbell.ring(List.of(queue));
  }

  public Optional<JobStatus> find(JobId job) {
    return database.run("find", connection -> JobReader.find(connection, job));
  }

  /** However long it takes; of a text, among the newest. */
  public List<JobStatus> list(JobFilter filter) {
    return database.run("list", connection -> Search.list(connection, filter));
  }

  /** How many a filter takes in, counted up to a number; of a text, among the newest. */
  public JobCount count(JobFilter filter, int most) {
    return database.run("count", connection -> Search.count(connection, filter, most));
  }

  /**
   * Quick, and so not always full: the answer says where it stopped. What is long of a job is not
   * read, and the job says so.
   */
  public JobPage page(JobFilter filter) {
    return database.run(
        "list", connection -> Search.page(connection, filter, JobReader.Detail.SHORT));
  }

  /** The same without payloads, results and stack traces, however short. */
  public JobPage briefPage(JobFilter filter) {
    return database.run(
        "list", connection -> Search.page(connection, filter, JobReader.Detail.NONE));
  }

  public List<JobEvent> timeline(JobId job) {
    return database.run("timeline", connection -> JobReader.timeline(connection, job));
  }

  public List<Attempt> attempts(JobId job) {
    return database.run("attempts", connection -> JobReader.attempts(connection, job));
  }

  public List<PublishedArtifact> artifacts(JobId job) {
    return database.run("artifacts", connection -> Artifacts.of(connection, job));
  }

  public List<QueueStatus> queues() {
    return queues(null);
  }

  /** With the jobs of one tenant only, and no queue that has none of them. */
  public List<QueueStatus> queues(@Nullable String tenant) {
    return database.run("queues", connection -> Queues.list(connection, tenant));
  }

  /** Makes a schedule, or changes the one of that name. */
  public void schedule(Schedule schedule) {
    database.transact(
        "schedule",
        connection ->
            Settle.storing(
                "schedule",
                Refusal.PAYLOAD_NOT_JSON,
                () -> Schedules.set(connection, schedule, codec)));
  }

  public List<ScheduleStatus> schedules() {
    return database.run("schedules", Schedules::list);
  }

  /** False when there is no such schedule, or it was paused before. */
  public boolean pauseSchedule(String name) {
    return database.run("schedule", connection -> Schedules.pause(connection, name));
  }

  /** False when there is no such schedule, or it was not paused. */
  public boolean resumeSchedule(String name) {
    return database.transact("schedule", connection -> Schedules.resume(connection, name));
  }

  public boolean removeSchedule(String name) {
    return database.run("schedule", connection -> Schedules.remove(connection, name));
  }

  public Statistics statistics() {
    return statistics(null);
  }

  /** Of one tenant only. */
  public Statistics statistics(@Nullable String tenant) {
    return database.run("statistics", connection -> Count.all(connection, tenant));
  }

  public Warnings warnings(@Nullable String tenant, Duration reapGrace) {
    return database.run("warnings", connection -> WarnOverdue.of(connection, tenant, reapGrace));
  }

  public DatabaseVersion version() {
    return database.run("version", Schema::about);
  }

  // ---- from the server, for those who come over HTTP

  /** What the database's clock says. */
  public Instant now() {
    return database.run(
        "now",
        connection ->
            Rows.list(
                    connection, row -> Rows.instant(row, "now"), "SELECT clock_timestamp() AS now")
                .getFirst());
  }

  /** Jobs of one tenant only. */
  public Claimed claim(String queue, int most, String worker, Duration lease, String tenant) {
    return claim.from(queue, most, worker, lease, tenant);
  }

  /** Of jobs of one tenant only. */
  public long depth(List<String> queues, long most, String tenant) {
    return database.run("depth", connection -> Queues.depth(connection, queues, most, tenant));
  }

  public Completion.Verdict complete(Completion completion) {
    return database.transactByKey(
        "complete",
        connection ->
            Settle.storing(
                "complete",
                Refusal.RESULT_NOT_JSON,
                () -> Complete.one(connection, backoff, completion)));
  }

  /** What workers told about the ends of this job's attempts. */
  public List<ReportedCompletion> told(JobId job) {
    return database.run("told", connection -> Complete.told(connection, job));
  }

  /** Where each of these jobs stands; nothing for a job there is not. */
  public List<JobStateSnapshot> fates(List<JobId> jobs) {
    return jobs.isEmpty()
        ? List.of()
        : database.run("fates", connection -> JobStates.of(connection, jobs));
  }

  /** All or none, and once: the same key and digest again are answered as before. */
  public List<Enqueued> enqueueOnce(String tenant, String key, String digest, List<Job> jobs) {
    Limits.key("idempotency key", key);
    return database.transact(
        "submit",
        connection -> EnqueueIdempotent.once(connection, enqueue, tenant, key, digest, jobs));
  }

  public int forgetSubmissions(Duration olderThan) {
    return database.run("forget", connection -> EnqueueIdempotent.forget(connection, olderThan));
  }

  public void createKey(ApiKey key, String digest, @Nullable Duration lifetime) {
    ApiKey.checkedName(key.name());
    ApiKey.checkedTenant(key.tenant());
    ApiKey.checkedLifetime(lifetime);
    boolean created =
        database.transact(
            "key",
            connection ->
                ApiKeys.create(
                    connection, key.id(), key.name(), key.role(), key.tenant(), digest, lifetime));
    if (!created) {
      throw new IllegalStateException("there is another key " + key.id());
    }
  }

  /** False when there is no such key, or it opens nothing any more. */
  public boolean revokeKey(String id, Duration after) {
    return database.run("key", connection -> ApiKeys.revoke(connection, id, after));
  }

  /**
   * Replaces a key by one with the same rights and the same end, which is valid besides the old one
   * as long as the overlap lasts.
   *
   * @param id of the new key
   * @param digest of the new key's secret
   * @return empty when there is no such key, or it is not valid any more
   */
  public Optional<ApiKey> rotateKey(String old, String id, String digest, Duration overlap) {
    ApiKey.checkedOverlap(overlap);
    return database.run(
        "key", connection -> RotateKey.rotate(connection, old, id, digest, overlap));
  }

  public List<ApiKey> keys() {
    return database.run("keys", ApiKeys::list);
  }

  public Optional<KnownKey> validKey(String id) {
    return database.run("key", connection -> ApiKeys.valid(connection, id));
  }

  public boolean hasKeys() {
    return database.run("keys", ApiKeys::any);
  }

  /** The newest first. */
  public List<TokenKey> tokenKeys() {
    return database.run("tokens", TokenKeys::inUse);
  }

  /** Makes this key the first one, unless there is one. */
  public void firstTokenKey(TokenKey key) {
    database.transact("tokens", connection -> TokenKeys.first(connection, key));
  }

  public void rotateTokenKey(TokenKey key, Duration overlap) {
    database.transact("tokens", connection -> TokenKeys.rotate(connection, key, overlap));
  }

  public void dispatch(Dispatch dispatch) {
    database.run("dispatch", connection -> Dispatches.set(connection, dispatch));
  }

  /** False when the queue was not pushed anywhere. */
  public boolean stopDispatch(String queue) {
    return database.run("dispatch", connection -> Dispatches.remove(connection, queue));
  }

  public List<Dispatch> dispatches() {
    return database.run("dispatches", Dispatches::list);
  }

  /** How far an attempt has come that was pushed to a worker. */
  public Delivery delivery(Lease lease) {
    return database.run("delivery", connection -> Undelivered.delivery(connection, lease));
  }

  /**
   * Ends an attempt that was pushed, unless its worker was heard of: then nothing happens.
   *
   * @param failure why; a retryable one puts the job back at no cost to its budget, any other ends
   *     it
   * @param again when it comes back
   */
  public boolean undelivered(Lease lease, Failure failure, Duration again) {
    Limits.delay("again", again);
    return database.run(
        "undelivered", connection -> Undelivered.end(connection, lease, failure, again));
  }

  /** Keeps why a queue's tasks do not reach their worker; what is the same already stays. */
  public void dispatchTrouble(
      String queue, DispatchTrouble.Kind kind, String cause, boolean paused) {
    database.run(
        "dispatch", connection -> Dispatches.trouble(connection, queue, kind, cause, paused));
  }

  /** A queue's tasks reach their worker. */
  public void dispatchWorks(String queue) {
    database.run("dispatch", connection -> Dispatches.works(connection, queue));
  }

  /** Under which worker's name each of these attempts runs or ran; nothing for what never was. */
  public Map<Lease, String> workers(List<Lease> leases) {
    return leases.isEmpty()
        ? Map.of()
        : database.run("fates", connection -> JobStates.workers(connection, leases));
  }

  /** How an attempt ended that did not succeed. */
  public Optional<Attempt> ended(Lease lease) {
    return database.run("fates", connection -> JobStates.ended(connection, lease));
  }

  /** How many jobs of the queue run under this worker's name. */
  public long running(String queue, String worker) {
    return database.run("running", connection -> Dispatches.running(connection, queue, worker));
  }

  // ---- from whoever looks on

  /** What ended since the beginning of a second, by queue and second. */
  public List<Throughput> finished(Instant since, @Nullable String tenant) {
    return database.run("finished", connection -> FinishedJobs.since(connection, since, tenant));
  }

  /** What ended between two moments, of all queues together, in spans of this length. */
  public List<Moment> past(Duration span, Instant from, Instant until, @Nullable String tenant) {
    return database.run(
        "past", connection -> RecentThroughput.between(connection, span, from, until, tenant));
  }

  /** Workers that hold leases, with up to so many jobs each. */
  public List<Holder> holders(@Nullable String tenant, int jobs, int most) {
    return database.run("holders", connection -> Holders.of(connection, tenant, jobs, most));
  }

  public List<JobBrief> glimpse(ChangedJob glance) {
    return database.run("glimpse", connection -> ChangedJobs.of(connection, glance));
  }

  // ---- from the clock

  /** Takes back every lease that ran out. */
  public ReapResult reap(Duration grace) {
    return swept(database.transact("reap", connection -> Reap.lost(connection, grace, SWEEP)));
  }

  /** Ends cancellations, attempts and jobs that are out of time. */
  public ReapResult expire(Duration cancelGrace) {
    return swept(
        database.transact("expire", connection -> Expire.late(connection, cancelGrace, SWEEP)));
  }

  /** Makes claimable what has waited long enough: for its backoff, or for other jobs to end. */
  public int promote() {
    List<String> ready = new ArrayList<>(Promote.due(database, null));
    ready.addAll(Unblock.ready(database, null));
    doorbell.ring(Set.copyOf(ready));
    return ready.size();
  }

  /** Enqueues what schedules have come due for. */
  public int fire() {
    return database.transact("fire", connection -> FireSchedules.due(connection, enqueue));
  }

  /** Says for which kinds a live worker of these queues has handlers; to be said now and then. */
  public void announce(Collection<String> queues, Collection<String> kinds) {
    database.run(
        "announce",
        connection -> {
          KnownKinds.announce(connection, queues, kinds);
          return true;
        });
  }

  /**
   * Whether a worker that has no handler for this job should leave it for others: one of them knows
   * its kind, or did until lately, or nobody has met it for so long.
   */
  public boolean mayBeKnown(JobId job, Duration patience) {
    return database.run("known", connection -> KnownKinds.mayBe(connection, job, patience));
  }

  public int retain(JobState state, Duration olderThan) {
    return database.run(
        "retain", connection -> Retention.delete(connection, state, olderThan, SWEEP));
  }

  /** Deleted jobs whose artifacts still lie in the store. */
  public List<JobId> orphaned(String store) {
    return database.run("orphaned", connection -> Artifacts.orphaned(connection, store, SWEEP));
  }

  /** To be told once the files of deleted jobs are gone. */
  public void forget(String store, List<JobId> jobs) {
    database.run("forget", connection -> Artifacts.forget(connection, store, jobs));
  }

  private ReapResult swept(List<Reap.Reaped> reaped) {
    ReapResult swept = ReapResult.of(Reap.logged(reaped));
    doorbell.ring(swept.requeuedIn());
    return swept;
  }

  @Override
  public void close() {
    doorbell.close();
    heartbeats.close();
    database.close();
  }
}
