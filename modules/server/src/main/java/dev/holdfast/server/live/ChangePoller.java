package dev.holdfast.server.live;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.Poller;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.model.value.Tenant;
import dev.holdfast.operate.Diagnostics;
import dev.holdfast.queue.Admin;
import dev.holdfast.queue.JobStore;
import dev.holdfast.queue.Queries;
import dev.holdfast.queue.health.WorkerLogs;
import dev.holdfast.queue.health.WorkerRegistry;
import dev.holdfast.queue.jdbc.DatabaseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls the database about once a second while a feed has subscribers, and publishes what changed.
 * It uses at most a tenth of one connection's time: a slow database is polled less often, except
 * for a subscriber that has just come and has nothing yet.
 */
final class ChangePoller {
  private static final Logger log = LoggerFactory.getLogger(ChangePoller.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int REST = 9;
  private static final Duration LONGEST_REST = Duration.ofSeconds(10);

  /** A page that is just opened does not wait for the end of a longer rest. */
  private static final Duration AWAITED_REST = Duration.ofMillis(250);

  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

  /** A row may be committed this much later than its timestamp. */
  private static final Duration OVERLAP = Duration.ofSeconds(5);

  /** How far back the first poll reads, and any poll after a long pause. */
  private static final Duration FARTHEST = Duration.ofMinutes(2);

  private static final int JOBS_OF_A_WORKER = 100;
  private static final int MOST_WORKERS = 500;

  /** How long warnings and schedules, which change slowly, are reused. */
  private static final Duration BACKGROUND = Duration.ofSeconds(5);

  private final Queries queries;
  private final Admin admin;
  private final WorkerRegistry registry;
  private final Diagnostics diagnostics;
  private final InstantSource clock;
  private final Tenant tenant;
  private final LiveFeed feed;
  private final Semaphore permits;
  private final ThroughputWindow throughput = new ThroughputWindow();
  private final JobChangeTracker jobs = new JobChangeTracker();
  private final WorkerChangeTracker workers = new WorkerChangeTracker();
  private final QueueFigures figures = new QueueFigures();
  private Map<JobId, LogCursor> logs = Map.of();
  private Map<WorkerLogs.Name, Instant> workerLogs = Map.of();
  private @Nullable Instant lookedAt;
  private Diagnostics.@Nullable Background background;
  private long backgroundAt;
  private long waitedSince = System.nanoTime();
  private volatile boolean polling;
  private volatile long began;
  private volatile long ended = System.nanoTime();
  private volatile long next = ended;

  /**
   * @param permits limits concurrent polls, shared by all pollers
   */
  ChangePoller(
      JobStore store,
      Diagnostics diagnostics,
      InstantSource clock,
      Tenant tenant,
      LiveFeed feed,
      Semaphore permits) {
    this.queries = store.queries();
    this.admin = store.admin();
    this.registry = store.workers();
    this.diagnostics = diagnostics;
    this.clock = clock;
    this.tenant = tenant;
    this.feed = feed;
    this.permits = permits;
  }

  /** Called often, by one thread. Does not block. */
  void tick() {
    long now = System.nanoTime();
    boolean due = now - next >= 0 || (feed.isAwaited() && now - ended >= AWAITED_REST.toNanos());
    if (!polling && !due) {
      waitedSince = now;
    } else if (!polling && permits.tryAcquire()) {
      waitedSince = now;
      began = now;
      polling = true;
      Thread.ofVirtual().name("holdfast-poll").start(this::poll);
    } else if (now - waitedSince > ANSWER_WITHIN.toNanos()) {
      // A poll has not ended, or other polls that wait for the database hold all permits.
      feed.publish(Topics.HEALTH, LiveData.Health.error(HealthReasons.NO_ANSWER));
      feed.upToDate();
    }
  }

  /** Called instead of {@link #tick} while there are no subscribers. */
  void rest() {
    waitedSince = System.nanoTime();
  }

  private void poll() {
    Duration rest = INTERVAL;
    try {
      pollOnce();
      rest = rest(Duration.ofNanos(System.nanoTime() - began));
    } catch (DatabaseException e) {
      feed.publish(Topics.HEALTH, LiveData.Health.error(HealthReasons.of(e)));
    } catch (RuntimeException bug) {
      log.error("polling for changes failed", bug);
      feed.publish(Topics.HEALTH, LiveData.Health.error(HealthReasons.INTERNAL));
    } finally {
      feed.upToDate();
      ended = System.nanoTime();
      next = ended + rest.toNanos();
      permits.release();
      polling = false;
    }
  }

  private static Duration rest(Duration took) {
    Duration rest = took.multipliedBy(REST);
    return rest.compareTo(INTERVAL) < 0
        ? INTERVAL
        : rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest;
  }

  private void pollOnce() {
    Instant now = clock.instant();
    List<QueueStatus> backlog = admin.queues(tenant);
    Instant from = throughput.from(now);
    throughput.read(queries.finished(from, tenant), from, now);
    // Processes serve all tenants, so a feed of one tenant does not show them.
    List<Holder> holders = queries.holders(tenant, JOBS_OF_A_WORKER, MOST_WORKERS);
    List<Poller> pollers = registry.polls().live(tenant);
    WorkerFleet fleet =
        tenant.isAny()
            ? new WorkerFleet(
                registry.readings().all(), registry.supervisors().all(), holders, pollers, now)
            : WorkerFleet.of(holders, pollers, now);
    List<JobBrief> polled =
        queries.changes(
            new ChangedJob(since(now), jobs.followed(), tenant, JobChangeTracker.MOST_AT_ONCE));
    lookedAt = now;

    publishJobs(polled);
    publishLogs(polled);
    figures.publish(feed, backlog, admin.workersPausedAt().orElse(null), throughput, now);
    workers.polled(fleet).forEach(this::publishWorker);
    if (tenant.isAny()) {
      publishWorkerLogs();
    }
    List<Finding> found = diagnostics.of(backlog, fleet, background());
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    feed.publish(Topics.HEALTH, LiveData.Health.degraded(HealthReasons.of(found, took)));
  }

  private Diagnostics.Background background() {
    Diagnostics.Background last = background;
    if (last == null || began - backgroundAt > BACKGROUND.toNanos()) {
      last = diagnostics.background(tenant);
      background = last;
      backgroundAt = began;
    }
    return last;
  }

  private Instant since(Instant now) {
    Instant earliest = now.minus(FARTHEST);
    Instant overlapping = lookedAt == null ? earliest : lookedAt.minus(OVERLAP);
    return overlapping.isAfter(earliest) ? overlapping : earliest;
  }

  private void publishJobs(List<JobBrief> polled) {
    JobChangeTracker.Changes changes = jobs.changes(polled);
    List<JobBrief> latest = jobs.latest();
    List<JobId> dropped = changes.dropped().isEmpty() ? null : changes.dropped();
    feed.publish(
        Topics.JOBS,
        changes.changed().isEmpty() && dropped == null
            ? null
            : new LiveData.Jobs(changes.changed(), dropped),
        () -> new LiveData.Jobs(latest, null));
  }

  /** Jobs that run and have new lines in their logs. */
  private void publishLogs(List<JobBrief> polled) {
    Map<JobId, LogCursor> ends =
        queries.logEnds(
            polled.stream()
                .filter(job -> job.state() == JobState.RUNNING)
                .map(JobBrief::id)
                .toList());
    List<JobId> grown =
        ends.keySet().stream()
            .filter(job -> !Objects.equals(ends.get(job), logs.get(job)))
            .sorted()
            .toList();
    logs = ends;
    if (!grown.isEmpty()) {
      feed.send(Topics.LOGS, new LiveData.Logs(grown));
    }
  }

  private void publishWorkerLogs() {
    Map<WorkerLogs.Name, Instant> ends = registry.logs().ends();
    List<WorkerLogs.Name> grown =
        ends.keySet().stream()
            .filter(worker -> !Objects.equals(ends.get(worker), workerLogs.get(worker)))
            .limit(MOST_WORKERS)
            .toList();
    workerLogs = ends;
    if (!grown.isEmpty()) {
      feed.send(Topics.WORKER_LOGS, new LiveData.GrownWorkerLogs(grown));
    }
  }

  private void publishWorker(LiveData.Worker worker) {
    // Workers on two machines may have the same component: one topic, but separate states.
    String topic = Topics.worker(worker.component());
    String name = worker.key();
    feed.publish(name, topic, worker);
    if (worker.status().equals(LiveData.Worker.GONE)) {
      feed.forget(name);
    }
  }
}
