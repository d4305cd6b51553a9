package dev.holdfast.queue;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Attempt;
import dev.holdfast.model.Claimed;
import dev.holdfast.model.Codec;
import dev.holdfast.model.Enqueued;
import dev.holdfast.model.Job;
import dev.holdfast.model.JobEvent;
import dev.holdfast.model.JobId;
import dev.holdfast.model.JobState;
import dev.holdfast.model.JobStatus;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Limits;
import dev.holdfast.model.Publication;
import dev.holdfast.model.PublishedArtifact;
import dev.holdfast.model.Pulse;
import dev.holdfast.model.Refusal;
import dev.holdfast.model.RefusedException;
import dev.holdfast.model.Report;
import dev.holdfast.model.Schedule;
import dev.holdfast.model.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
  private static final Duration HEARTBEAT_ANSWER = Duration.ofSeconds(10);

  private final DataSource dataSource;
  private final Codec codec;
  private final Database database;
  private final Database heartbeats;
  private final Doorbell doorbell;
  private final Enqueue enqueue;
  private final Claim claim;
  private final Settle settle;

  public Queue(DataSource dataSource, Codec codec, Options options) {
    this.dataSource = dataSource;
    this.codec = codec;
    this.database = Database.pooled(dataSource, options.observer(), options.connections());
    this.heartbeats = Database.dedicated(dataSource, options.observer(), HEARTBEAT_ANSWER);
    this.doorbell = new Doorbell(database);
    this.enqueue = new Enqueue(database, doorbell, codec);
    this.claim = new Claim(database);
    this.settle = new Settle(database);
  }

  /**
   * @param connections how many connections of the pool the verbs may use at once
   */
  public record Options(int connections, VerbObserver observer) {
    public static final Options DEFAULT = new Options(8, VerbObserver.NONE);
  }

  /** Throws a {@link DatabaseException} that says what is wrong, unless all is well. */
  public void check(boolean allowUnsafe) {
    database.run(
        "check",
        connection -> {
          Schema.check(connection, allowUnsafe);
          return true;
        });
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
    return claim.from(queue, most, worker, lease);
  }

  /** The leases that lie under a worker's name, to find those whose claim it never heard of. */
  public List<Lease> heldBy(String worker) {
    return database.run("held", connection -> Claim.heldBy(connection, worker));
  }

  public List<Pulse> heartbeat(List<Lease> leases, Duration lease) {
    return leases.isEmpty()
        ? List.of()
        : heartbeats.run("heartbeat", connection -> Heartbeat.of(connection, leases, lease));
  }

  public List<Pulse> cancelling(String worker) {
    return heartbeats.run("cancelling", connection -> Heartbeat.cancelling(connection, worker));
  }

  /** One answer per report, in their order. */
  public List<Ack> report(List<Report> reports) {
    return settle.report(reports);
  }

  public Ack publish(Publication publication) {
    return database.run("publish", connection -> Publish.all(connection, publication));
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

  /** Wakes the caller whenever one of the queues may have work, until it is closed. */
  public AutoCloseable listen(Collection<String> queues, Consumer<String> wake) {
    // The names become part of a statement, where no parameter can stand.
    List<String> named = queues.stream().map(Limits::queue).toList();
    Listener afar = new Listener(dataSource, named, wake);
    AutoCloseable here = doorbell.hear(named, wake);
    return () -> {
      here.close();
      afar.close();
    };
  }

  public long depth(List<String> queues, long most) {
    return database.run("depth", connection -> Queues.depth(connection, queues, most));
  }

  // ---- from the operator

  /** Empty when there is no such job; its children follow it when cascading. */
  public List<Cancellation> cancel(JobId job, boolean cascade, String reason, Duration grace) {
    return database.run("cancel", connection -> Cancel.of(connection, job, cascade, reason, grace));
  }

  /** The jobs that were put back into their queues. */
  public Set<JobId> retry(List<JobId> jobs) {
    List<Retry.Retried> retried = database.run("retry", connection -> Retry.all(connection, jobs));
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

  public List<JobStatus> list(JobFilter filter) {
    return database.run("list", connection -> JobReader.list(connection, filter));
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
    return database.run("queues", Queues::list);
  }

  /** Makes a schedule, or changes the one of that name. */
  public void schedule(Schedule schedule) {
    database.transact("schedule", connection -> Schedules.set(connection, schedule, codec));
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
    return database.run("statistics", Statistics::of);
  }

  // ---- from the clock

  /** Takes back every lease that ran out. */
  public Swept reap(Duration grace) {
    return swept(database.run("reap", connection -> Reap.lost(connection, grace, SWEEP)));
  }

  /** Ends cancellations, attempts and jobs that are out of time. */
  public Swept expire(Duration cancelGrace) {
    return swept(database.run("expire", connection -> Expire.late(connection, cancelGrace, SWEEP)));
  }

  /** Makes claimable what has waited long enough: for its backoff, or for other jobs to end. */
  public int promote() {
    return Promote.due(database, null) + Unblock.ready(database, null);
  }

  /** Enqueues what schedules have come due for. */
  public int fire() {
    return database.transact("fire", connection -> Fire.due(connection, enqueue));
  }

  public int retain(JobState state, Duration olderThan) {
    return database.run("retain", connection -> Retain.delete(connection, state, olderThan, SWEEP));
  }

  /** Deleted jobs whose artifacts still lie in the store. */
  public List<JobId> orphaned(String store) {
    return database.run("orphaned", connection -> Artifacts.orphaned(connection, store, SWEEP));
  }

  /** To be told once the files of deleted jobs are gone. */
  public void forget(String store, List<JobId> jobs) {
    database.run("forget", connection -> Artifacts.forget(connection, store, jobs));
  }

  private Swept swept(List<Reap.Reaped> reaped) {
    Swept swept = Swept.of(reaped);
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
