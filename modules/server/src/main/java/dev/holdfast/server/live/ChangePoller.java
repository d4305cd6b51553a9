package dev.holdfast.server.live;

import dev.holdfast.model.attempt.LogCursor;
import dev.holdfast.model.job.ChangedJob;
import dev.holdfast.model.job.JobBrief;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.job.JobState;
import dev.holdfast.model.ops.Finding;
import dev.holdfast.model.ops.Holder;
import dev.holdfast.model.ops.QueueStatus;
import dev.holdfast.model.ops.WorkerFleet;
import dev.holdfast.queue.JobQueries;
import dev.holdfast.queue.Queue;
import dev.holdfast.queue.QueueAdmin;
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
 * Looks at the database about once a second, for as long as somebody listens, and says what is not
 * as it was. It takes a tenth of one connection's time at most: where looking is slow, it looks
 * less often.
 */
final class ChangePoller {
  private static final Logger log = LoggerFactory.getLogger(ChangePoller.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int REST = 9;
  private static final Duration LONGEST_REST = Duration.ofSeconds(10);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

  /** A commit may come this much later than the moment it was for. */
  private static final Duration OVERLAP = Duration.ofSeconds(5);

  /** How far back the first look goes, and any look after a long absence. */
  private static final Duration FARTHEST = Duration.ofMinutes(2);

  private static final int JOBS_OF_A_WORKER = 100;
  private static final int MOST_WORKERS = 500;

  /** How old what changes slowly may be. */
  private static final Duration BACKGROUND = Duration.ofSeconds(5);

  private final JobQueries queries;
  private final QueueAdmin admin;
  private final WorkerRegistry registry;
  private final Problems problems;
  private final InstantSource clock;
  private final @Nullable String tenant;
  private final LiveFeed feed;
  private final Semaphore looking;
  private final ThroughputWindow pace = new ThroughputWindow();
  private final SeenJobs jobs = new SeenJobs();
  private final SeenWorkers workers = new SeenWorkers();
  private final QueueFigures figures = new QueueFigures();
  private Map<JobId, LogCursor> logs = Map.of();
  private @Nullable Instant lookedAt;
  private Problems.@Nullable Background background;
  private long backgroundAt;
  private long waitedSince = System.nanoTime();
  private volatile boolean atIt;
  private volatile long began;
  private volatile long next = System.nanoTime();

  /**
   * @param looking shared by all who look
   */
  ChangePoller(
      Queue queue,
      Problems problems,
      InstantSource clock,
      @Nullable String tenant,
      LiveFeed feed,
      Semaphore looking) {
    this.queries = queue.queries();
    this.admin = queue.admin();
    this.registry = queue.workers();
    this.problems = problems;
    this.clock = clock;
    this.tenant = tenant;
    this.feed = feed;
    this.looking = looking;
  }

  /** Called often, by one thread, and never waits. */
  void tick() {
    long now = System.nanoTime();
    if (!atIt && now - next < 0) {
      waitedSince = now;
    } else if (!atIt && looking.tryAcquire()) {
      waitedSince = now;
      began = now;
      atIt = true;
      Thread.ofVirtual().name("holdfast-look").start(this::look);
    } else if (now - waitedSince > ANSWER_WITHIN.toNanos()) {
      // For the database, or for a turn that others do not give back because they wait for it.
      feed.publish(Topics.HEALTH, Live.Health.error(HealthReasons.NO_ANSWER));
      feed.upToDate();
    }
  }

  /** Nobody listens, so nobody waits. */
  void rest() {
    waitedSince = System.nanoTime();
  }

  private void look() {
    Duration rest = INTERVAL;
    try {
      lookOnce();
      rest = rest(Duration.ofNanos(System.nanoTime() - began));
    } catch (DatabaseException trouble) {
      feed.publish(Topics.HEALTH, Live.Health.error(HealthReasons.of(trouble)));
    } catch (RuntimeException bug) {
      log.error("could not look", bug);
      feed.publish(Topics.HEALTH, Live.Health.error(HealthReasons.INTERNAL));
    } finally {
      feed.upToDate();
      next = System.nanoTime() + rest.toNanos();
      looking.release();
      atIt = false;
    }
  }

  private static Duration rest(Duration took) {
    Duration rest = took.multipliedBy(REST);
    return rest.compareTo(INTERVAL) < 0
        ? INTERVAL
        : rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest;
  }

  private void lookOnce() {
    Instant now = clock.instant();
    List<QueueStatus> backlog = admin.queues(tenant);
    Instant from = pace.from(now);
    pace.read(queries.finished(from, tenant), from, now);
    // Processes are nothing that one tenant among many is told of.
    List<Holder> holders = queries.holders(tenant, JOBS_OF_A_WORKER, MOST_WORKERS);
    WorkerFleet crew =
        tenant == null
            ? new WorkerFleet(registry.readings().all(), registry.supervisors().all(), holders, now)
            : WorkerFleet.of(holders, now);
    List<JobBrief> looked =
        queries.changes(
            new ChangedJob(since(now), jobs.unfinished(), tenant, SeenJobs.MOST_AT_ONCE));
    lookedAt = now;

    tellJobs(looked);
    tellLogs(looked);
    figures.tell(feed, backlog, pace, now);
    workers.looked(crew).forEach(this::tellWorker);
    List<Finding> found = problems.of(backlog, crew, background());
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    feed.publish(Topics.HEALTH, Live.Health.degraded(HealthReasons.of(found, took)));
  }

  private Problems.Background background() {
    Problems.Background last = background;
    if (last == null || began - backgroundAt > BACKGROUND.toNanos()) {
      last = problems.background(tenant);
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

  private void tellJobs(List<JobBrief> looked) {
    List<JobBrief> changed = jobs.changed(looked);
    List<JobBrief> latest = jobs.latest();
    feed.publish(
        Topics.JOBS,
        changed.isEmpty() ? null : new Live.Jobs(changed),
        () -> new Live.Jobs(latest));
  }

  /** Of those that run; how they end is told with the jobs. */
  private void tellLogs(List<JobBrief> looked) {
    Map<JobId, LogCursor> ends =
        queries.logEnds(
            looked.stream()
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
      feed.tell(Topics.LOGS, new Live.Logs(grown));
    }
  }

  private void tellWorker(Live.Worker worker) {
    // Two machines may have a worker in the same place: one topic, but each is told of by itself.
    String topic = Topics.worker(worker.component());
    String name = worker.key();
    feed.publish(name, topic, worker);
    if (worker.status().equals(Live.Worker.GONE)) {
      feed.forget(name);
    }
  }
}
