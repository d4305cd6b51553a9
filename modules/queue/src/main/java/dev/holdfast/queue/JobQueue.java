package dev.holdfast.queue;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Children;
import dev.holdfast.model.attempt.ClaimRequest;
import dev.holdfast.model.attempt.Claimed;
import dev.holdfast.model.attempt.Completion;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.KindVersion;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LogLines;
import dev.holdfast.model.attempt.Publication;
import dev.holdfast.model.attempt.Report;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.attempt.Suspension;
import dev.holdfast.model.attempt.WaitAnswer;
import dev.holdfast.model.command.Deletion;
import dev.holdfast.model.command.JobCommand;
import dev.holdfast.model.command.JobEdit;
import dev.holdfast.model.command.JobFork;
import dev.holdfast.model.job.Cancellation;
import dev.holdfast.model.job.Enqueued;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.Job;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.ops.Dispatch.Delivery;
import dev.holdfast.model.ops.Role;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.model.wait.Decision;
import dev.holdfast.model.wait.SignalToJob;
import dev.holdfast.queue.batch.BatchClaims;
import dev.holdfast.queue.batch.MaterializedJobs;
import dev.holdfast.queue.claim.Claim;
import dev.holdfast.queue.command.Cancel;
import dev.holdfast.queue.command.Commands;
import dev.holdfast.queue.command.Delete;
import dev.holdfast.queue.command.Edit;
import dev.holdfast.queue.command.Fork;
import dev.holdfast.queue.command.LockJob;
import dev.holdfast.queue.command.Retry;
import dev.holdfast.queue.enqueue.Enqueue;
import dev.holdfast.queue.enqueue.EnqueueIdempotent;
import dev.holdfast.queue.health.HandledKinds;
import dev.holdfast.queue.health.HandledVersions;
import dev.holdfast.queue.jdbc.Database;
import dev.holdfast.queue.jdbc.GroupCommit;
import dev.holdfast.queue.jdbc.JsonInput;
import dev.holdfast.queue.lease.Heartbeat;
import dev.holdfast.queue.notify.QueueNotifier;
import dev.holdfast.queue.read.JobStates;
import dev.holdfast.queue.report.AppendLog;
import dev.holdfast.queue.report.Publish;
import dev.holdfast.queue.report.WriteReports;
import dev.holdfast.queue.settle.Backoff;
import dev.holdfast.queue.settle.Complete;
import dev.holdfast.queue.settle.Settle;
import dev.holdfast.queue.settle.Succeed;
import dev.holdfast.queue.settle.Undelivered;
import dev.holdfast.queue.wait.Decide;
import dev.holdfast.queue.wait.EndedJobs;
import dev.holdfast.queue.wait.SendSignal;
import dev.holdfast.queue.wait.StartChildren;
import dev.holdfast.queue.wait.Suspend;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The life of a job: enqueue, claim, heartbeat, report, settle, and commands of operators.
 *
 * <p>Each method runs one verb. Most have a file of the same name; the others are in the file of
 * the verb they belong to: {@code heldBy} in {@link Claim}, {@code commands} in {@link Heartbeat},
 * {@code report} in {@link WriteReports}, {@code succeeded} in {@link Succeed}, {@code delivery} in
 * {@link Undelivered}, {@code announce} and {@code mayHaveHandler} in {@link HandledKinds}. Methods
 * may be called from any thread and any process, and again when an answer was lost. Only the
 * database's clock decides about leases.
 */
public final class JobQueue {
  /** So many batches of suspensions at once. */
  private static final int SUSPENDING = 2;

  private final Database database;
  private final Database heartbeats;
  private final MaterializedJobs materialized;
  private final MaterializedJobs materializedAside;
  private final QueueNotifier notifier;
  private final Codec codec;
  private final Enqueue enqueue;
  private final Claim claim;
  private final Settle settle;
  private final WriteReports reports;
  private final BatchClaims batches = new BatchClaims();
  private final EndedJobs endedJobs;
  private final GroupCommit<Suspension, WaitAnswer> suspending =
      new GroupCommit<>(SUSPENDING, this::suspend);

  /**
   * @param heartbeats a connection of their own, so that nothing can starve them
   */
  JobQueue(
      Database database,
      Database heartbeats,
      QueueNotifier notifier,
      Codec codec,
      Enqueue enqueue,
      EndedJobs endedJobs,
      Backoff backoff,
      JobStore.Options options) {
    this.database = database;
    this.heartbeats = heartbeats;
    this.materialized = new MaterializedJobs(database);
    this.materializedAside = new MaterializedJobs(heartbeats);
    this.notifier = notifier;
    this.codec = codec;
    this.enqueue = enqueue;
    this.endedJobs = endedJobs;
    this.claim =
        new Claim(
            database,
            materialized,
            backoff,
            batches,
            endedJobs,
            options.batchFrom(),
            options.nanos());
    this.settle = new Settle(materialized, backoff, batches);
    this.reports = new WriteReports(materialized);
  }

  /** Returns once the job is durable. */
  public Enqueued enqueue(Job job) {
    return enqueue.one(job);
  }

  /** All of them or none. */
  public List<Enqueued> enqueue(List<Job> jobs) {
    return enqueue.all(jobs);
  }

  /** Inside the caller's transaction. */
  public List<Enqueued> enqueue(Connection connection, List<Job> jobs) throws SQLException {
    return enqueue.all(connection, jobs);
  }

  /**
   * All or none, and once: the same key and digest again are answered as before.
   *
   * @param scope whose key it is; the same key in another scope is another key
   */
  public List<Enqueued> enqueueOnce(String scope, String key, String digest, List<Job> jobs) {
    Limits.key("idempotency key", key);
    return database.transact(
        "enqueueOnce",
        connection -> EnqueueIdempotent.once(connection, enqueue, scope, key, digest, jobs));
  }

  /** Takes due jobs of a queue, each under a lease. */
  public Claimed claim(ClaimRequest request) {
    return claim.jobs(request);
  }

  /** The leases under a worker's name, to find those whose claim's answer was lost. */
  public List<Lease> heldBy(String worker) {
    return materialized.reading("heldBy", worker, connection -> Claim.heldBy(connection, worker));
  }

  /** Extends the leases that are still held; one result each. */
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Duration lease) {
    return leases.isEmpty()
        ? List.of()
        : materializedAside.extending(
            "heartbeat", Heartbeat.LOCK_TIMEOUT, () -> Heartbeat.of(leases, lease));
  }

  /** Extends each by the time for which it was given, and records who begins which of them. */
  public List<HeartbeatResult> heartbeat(List<Lease> leases, Map<Lease, String> startedBy) {
    return leases.isEmpty()
        ? List.of()
        : materializedAside.extending(
            "heartbeat", Heartbeat.LOCK_TIMEOUT, () -> Heartbeat.of(leases, startedBy));
  }

  /**
   * The workers that hold these attempts, or held them. Read on the connection of heartbeats, where
   * nothing else waits; others read {@link Queries#workerNames}.
   */
  public Map<Lease, String> workerNames(List<Lease> leases) {
    return leases.isEmpty()
        ? Map.of()
        : heartbeats.run("workerNames", connection -> JobStates.workers(connection, leases));
  }

  /** The running jobs of a worker that were cancelled, or for which an operator gave a command. */
  public List<HeartbeatResult> commands(String worker) {
    return heartbeats.run("commands", connection -> Heartbeat.commands(connection, worker));
  }

  /** Writes for which kinds a live worker of these queues has handlers; repeated now and then. */
  public void announce(Collection<String> queues, Collection<String> kinds) {
    announce(queues, kinds, List.of());
  }

  /** The same, with the versions that it has of them, where they have any. */
  public void announce(
      Collection<String> queues, Collection<String> kinds, List<KindVersion> versions) {
    database.run(
        "announce",
        connection -> {
          HandledKinds.announce(connection, queues, kinds);
          if (!versions.isEmpty()) {
            HandledVersions.announce(connection, queues, versions);
          }
          return true;
        });
  }

  /**
   * Whether a worker without a handler for this job should leave it for others: a live worker has
   * one or had one lately, or the job was first claimed less than {@code timeout} ago.
   */
  public boolean mayHaveHandler(JobId job, Duration timeout) {
    return materialized.reading(
        "mayHaveHandler",
        List.of(job),
        connection -> HandledKinds.mayHaveHandler(connection, job, timeout));
  }

  /** One answer per report, in their order. */
  public List<Ack> report(List<Report> reports) {
    return this.reports.all(reports);
  }

  /** Lines for an attempt's log. */
  public Ack log(LogLines lines) {
    return materialized.holdingInTransaction(
        "log", lines.lease(), connection -> AppendLog.write(connection, lines));
  }

  /** Takes artifacts for the job's, if the attempt holds it. */
  public Ack publish(Publication publication) {
    return materialized.holding(
        "publish",
        publication.lease(),
        connection ->
            JsonInput.store(
                "publish", Refusal.RESULT_NOT_JSON, () -> Publish.all(connection, publication)));
  }

  /** One answer per settlement, in their order. */
  public List<Ack> settle(List<Settlement> settlements) {
    List<Ack> acks = settle.all(settlements);
    endedJobs.add(
        IntStream.range(0, acks.size())
            .filter(i -> acks.get(i) == Ack.ACCEPTED)
            .mapToObj(i -> settlements.get(i).lease().job())
            .toList());
    return acks;
  }

  /** Ends an attempt, if it still holds the job. */
  public Ack settle(Settlement settlement) {
    return settle(List.of(settlement)).getFirst();
  }

  /**
   * Ends an attempt whose handler waits for something, unless it is there already. Shares
   * statements and commit with others that ask at the same moment.
   */
  public WaitAnswer suspend(Suspension suspension) {
    return suspending.ask(suspension);
  }

  private List<WaitAnswer> suspend(List<Suspension> suspensions) {
    Map<Suspension, WaitAnswer> answers = new HashMap<>();
    Set<JobId> cancelled = new HashSet<>();
    database.transactByKey(
        "suspend",
        connection ->
            MaterializedJobs.holding(
                connection,
                suspensions,
                Suspension::lease,
                (in, batch) -> Suspend.all(in, batch, answers, cancelled)));
    endedJobs.add(cancelled);
    return suspensions.stream().map(answers::get).toList();
  }

  /** Enqueues jobs that a handler starts, if its attempt holds the job. */
  public Ack startChildren(Children children) {
    return materialized.holdingInTransaction(
        "startChildren",
        children.lease(),
        connection -> StartChildren.some(connection, enqueue, children));
  }

  /** Tells a job something. */
  public SignalToJob.Answer signal(JobId job, SignalToJob signal, Tenant tenant) {
    return database.transact("signal", connection -> signal(connection, job, signal, tenant));
  }

  /** The same in the caller's transaction: the job is told with its commit, or not at all. */
  public SignalToJob.Answer signal(
      Connection connection, JobId job, SignalToJob signal, Tenant tenant) throws SQLException {
    SendSignal.Sent sent =
        MaterializedJobs.changing(
            connection,
            in -> LockJob.of(in, job, tenant),
            in ->
                JsonInput.store(
                    "signal",
                    Refusal.PAYLOAD_NOT_JSON,
                    () -> SendSignal.one(in, job, signal, tenant)));
    if (sent.queue() != null) {
      QueueNotifier.sendWith(connection, List.of(sent.queue()));
    }
    return sent.answer();
  }

  /**
   * What became of a signal by unique key.
   *
   * @param job that was told, or would have been; null if none has the key
   */
  public record Told(@Nullable JobId job, SignalToJob.Answer answer) {}

  /**
   * Tells something to the job that holds a unique key: in a chain of jobs that continue each
   * other, always to the last.
   */
  public Told signal(String kind, String uniqueKey, SignalToJob signal, Tenant tenant) {
    return database.transact(
        "signal", connection -> signal(connection, kind, uniqueKey, signal, tenant));
  }

  /** The same in the caller's transaction. */
  public Told signal(
      Connection connection, String kind, String uniqueKey, SignalToJob signal, Tenant tenant)
      throws SQLException {
    @Nullable JobId last = null;
    while (true) {
      JobId holder = SendSignal.holder(connection, tenant, kind, uniqueKey).orElse(null);
      if (holder == null || holder.equals(last)) {
        // What held it has ended, and nothing has it now.
        return new Told(
            last,
            last == null ? SignalToJob.Answer.NO_SUCH_JOB : SignalToJob.Answer.ALREADY_TERMINAL);
      }
      SignalToJob.Answer answer = signal(connection, holder, signal, tenant);
      if (answer != SignalToJob.Answer.ALREADY_TERMINAL
          && answer != SignalToJob.Answer.NO_SUCH_JOB) {
        return new Told(holder, answer);
      }
      // It has ended since it was found; if it went on as another job, that has its key now.
      last = holder;
    }
  }

  /**
   * Answers the question of a job.
   *
   * @param wait the id under which it asks
   * @param role of who decides
   */
  public Decision.Answer decide(
      JobId job, String wait, Decision decision, Role role, Tenant tenant) {
    return decide(job, wait, null, decision, role, tenant);
  }

  /**
   * The same for a question that was asked at one moment: an id that is asked again is another.
   *
   * @param since null for whenever
   */
  public Decision.Answer decide(
      JobId job,
      String wait,
      @Nullable Instant since,
      Decision decision,
      Role role,
      Tenant tenant) {
    Decide.Decided decided =
        materialized.changing(
            "decide",
            connection -> LockJob.of(connection, job, tenant),
            connection -> Decide.one(connection, job, wait, since, decision, role, tenant));
    if (decided.queue() != null) {
      notifier.send(List.of(decided.queue()));
    }
    return decided.answer();
  }

  /**
   * Succeeds in the caller's transaction: the effect and the settle happen together or not at all.
   */
  public Ack succeed(Connection connection, Settlement.Succeed settlement) throws SQLException {
    Lease lease = settlement.lease();
    // Others see the job run, for as long as the caller's transaction takes. Not on the caller's
    // connection, and not beside a snapshot that would take the write for a conflict.
    if (batches.find(lease) != null
        && connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED) {
      materializedAside.show("succeed", lease);
    }
    return settle.succeed(connection, settlement);
  }

  /** Whether this attempt is known to have succeeded. */
  public boolean succeeded(Lease lease) {
    boolean succeeded =
        database.run(
            "succeeded", connection -> !Succeed.before(connection, List.of(lease)).isEmpty());
    if (succeeded) {
      endedJobs.add(List.of(lease.job()));
    }
    return succeeded;
  }

  public Completion.Verdict complete(Completion completion) {
    Completion.Verdict verdict =
        database.transactByKey(
            "complete",
            connection ->
                JsonInput.store(
                    "complete",
                    Refusal.RESULT_NOT_JSON,
                    () -> Complete.one(connection, settle, completion)));
    endedJobs.add(List.of(completion.lease().job()));
    return verdict;
  }

  /** What is known of an attempt that was pushed to a worker. */
  public Delivery delivery(Lease lease) {
    return database.run("delivery", connection -> Undelivered.delivery(connection, lease));
  }

  /**
   * Ends an attempt that was pushed, unless its worker has answered: then nothing happens.
   *
   * @param failure why; a retryable one puts the job back at no cost to its budget, any other ends
   *     it
   * @param again when it is retried
   */
  public boolean undelivered(Lease lease, Failure failure, Duration again) {
    Limits.delay("again", again);
    boolean ended =
        database.run(
            "undelivered", connection -> Undelivered.end(connection, lease, failure, again));
    endedJobs.add(List.of(lease.job()));
    return ended;
  }

  /**
   * One answer per job that there is; their children follow them when cascading. A handler that
   * runs has the cancel grace period of its worker to stop.
   */
  public List<Cancellation> cancel(
      List<JobId> jobs, boolean cascade, String reason, Tenant tenant) {
    List<Cancellation> cancelled =
        database.transact(
            "cancel", connection -> Cancel.some(connection, jobs, cascade, reason, tenant));
    endedJobs.add(
        cancelled.stream()
            .filter(each -> each.outcome() == Cancellation.Outcome.CANCELLED)
            .map(Cancellation::job)
            .toList());
    return cancelled;
  }

  /** Changes a job that no worker has claimed; empty when there is no such job. */
  public Optional<JobEdit.Answer> edit(JobId job, JobEdit edit, Tenant tenant) {
    Optional<Edit.Edited> edited =
        materialized.changing(
            "edit",
            connection -> LockJob.of(connection, job, tenant),
            connection ->
                JsonInput.store(
                    "edit",
                    Refusal.PAYLOAD_NOT_JSON,
                    () -> Edit.one(connection, job, edit, codec, tenant)));
    edited.map(Edit.Edited::queue).ifPresent(queue -> notifier.send(List.of(queue)));
    return edited.map(Edit.Edited::answer);
  }

  /**
   * Deletes a job that does not run, with all that is known of it; empty when there is no such job.
   */
  public Optional<Deletion> delete(JobId job, Tenant tenant) {
    return materialized.changing(
        "delete",
        connection -> LockJob.of(connection, job, tenant),
        connection -> Delete.one(connection, job, tenant));
  }

  /**
   * Makes new jobs that go on from a step of this one; it stays as it is.
   *
   * @param by who asks for it
   */
  public JobFork.Outcome fork(JobId job, JobFork fork, String by, Tenant tenant) {
    Fork.Forked forked =
        materialized.changing(
            "fork",
            connection -> LockJob.of(connection, job, tenant),
            connection ->
                JsonInput.store(
                    "fork",
                    Refusal.PAYLOAD_NOT_JSON,
                    () -> Fork.some(connection, job, fork, by, tenant)));
    if (forked.queue() != null) {
      notifier.send(List.of(forked.queue()));
    }
    return forked.outcome();
  }

  /** The jobs that were requeued. */
  public Set<JobId> retry(List<JobId> jobs, Tenant tenant) {
    List<Retry.Retried> retried =
        database.run("retry", connection -> Retry.all(connection, jobs, tenant));
    notifier.send(retried.stream().map(Retry.Retried::queue).distinct().toList());
    return retried.stream().map(Retry.Retried::job).collect(Collectors.toUnmodifiableSet());
  }

  /** Gives a command to a job that runs in steps. */
  public JobCommand.Outcome command(JobId job, JobCommand command, Tenant tenant) {
    Commands.Commanded commanded =
        materialized.changing(
            "command",
            connection -> LockJob.of(connection, job, tenant),
            connection -> Commands.command(connection, job, command, tenant));
    if (commanded.queue() != null) {
      notifier.send(List.of(commanded.queue()));
    }
    return commanded.outcome();
  }
}
