package dev.holdfast.worker;

import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.AttemptServices;
import dev.holdfast.worker.attempt.Outbox;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.attempt.StopReason;
import dev.holdfast.worker.claim.Claimer;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.OverdueHandler;
import dev.holdfast.worker.lease.LeaseKeeper;
import dev.holdfast.worker.maintenance.Periodic;
import dev.holdfast.worker.maintenance.Upkeep;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs, runs their handlers and settles them, until it is stopped.
 *
 * <p>This is the wiring; each part is one concern: {@link Claimer} fills the {@link Slots}, {@link
 * AttemptExecutor} is one attempt from its start to its end, {@link Outbox} writes reports and
 * settlements, {@link LeaseKeeper} extends leases, {@link Upkeep} does what the queue needs beside
 * that.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  // What stopping may take beyond the caller's timeout, step by step.
  private static final Duration STOP_HANDLERS = Duration.ofSeconds(1);
  private static final Duration FLUSH = Duration.ofSeconds(3);
  // Long enough for a claim on a busy server: the claiming thread releases what it gets.
  private static final Duration STOP_THREADS = Duration.ofSeconds(4);

  private final JobSource source;
  private final WorkerOptions options;
  private final Metrics metrics;
  private final Kinds kinds;
  private final AttemptServices services;
  private final Slots slots;
  private final Outbox outbox;
  private final LeaseKeeper keeper;
  private final Claimer claimer;
  private final Loop claiming;
  private final Upkeep upkeep;
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile @Nullable AutoCloseable listening;

  /**
   * @param upkeep what it does for the queue beside its jobs, from its start to its end
   */
  public Worker(
      JobSource source,
      List<Periodic> upkeep,
      WorkerOptions options,
      Codec codec,
      List<Kind<?>> kinds,
      List<JobListener> listeners,
      Metrics metrics) {
    this.source = source;
    this.options = options;
    this.metrics = metrics;
    this.kinds = new Kinds(kinds);
    this.services =
        AttemptServices.of(source, options, codec, listeners, metrics, this::wakeClaiming);
    this.slots = services.slots();
    this.outbox = services.outbox();
    this.keeper =
        new LeaseKeeper(
            source, slots, options.timings(), options.worker(), metrics, System::nanoTime);
    this.claimer =
        new Claimer(source, options, this.kinds.versions(), slots, metrics, this::startAttempt);
    this.claiming = new Loop("claim", this::claim, claimer::releaseLostClaims);
    this.upkeep = new Upkeep(upkeep);
    metrics.gauge(Metrics.INFLIGHT, slots::used);
    metrics.gauge(Metrics.OVERDUE, () -> slots.overdue().size());
  }

  /** Begins to claim jobs. */
  public Worker start() {
    startKeeping();
    upkeep.start();
    claiming.start();
    try {
      listening = source.listen(options.queues(), queue -> onNotification());
    } catch (RuntimeException e) {
      log.warn("{} cannot listen for jobs and finds them by polling", options.worker(), e);
    }
    log.info(
        "{} serves {} with {}",
        options.worker(),
        options.queues(),
        Plural.of(options.concurrency(), "slot"));
    return this;
  }

  private void startKeeping() {
    if (stopping.get() || !started.compareAndSet(false, true)) {
      throw new IllegalStateException("a worker starts once; build another one");
    }
    outbox.start();
    keeper.start();
  }

  private void onNotification() {
    claimer.onNotification();
    claiming.wake();
  }

  private void wakeClaiming() {
    claiming.wake();
  }

  private boolean startAttempt(LeasedJob job, long claimedAt) {
    return new AttemptExecutor(job, kinds.of(job), claimedAt, services).start();
  }

  private Duration claim() {
    keeper.connect();
    return claimer.runOnce();
  }

  /** For tests: runs everything that is due until nothing is left; then stops. */
  public void drain() {
    startKeeping();
    try {
      keeper.connect();
      while (claimer.claimNow() > 0) {
        slots.awaitEmpty(Duration.ofDays(1));
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  /** Unique to this worker, and the holder of its leases. */
  public String name() {
    return options.worker();
  }

  /** Claims no more jobs; running ones continue, and so do their heartbeats. */
  public void pause() {
    claimer.pause(true);
  }

  /** Claims jobs again after a pause. */
  public void resume() {
    claimer.pause(false);
    claiming.wake();
  }

  /** The jobs it runs, the one that was claimed first at the front. */
  public List<JobId> running() {
    return slots.jobs();
  }

  /** Handlers that still run although their attempts were abandoned, the longest first. */
  public List<OverdueHandler> overdue() {
    return slots.overdue();
  }

  /** What it has counted since it started. */
  public Metrics metrics() {
    return metrics;
  }

  // ---- the end

  @Override
  public void close() {
    stop(options.shutdownTimeout());
  }

  /**
   * Claims nothing more, waits for running jobs, and releases those that take longer. Nothing is
   * lost: what could not be released is reaped when its lease expires. Returns within a few seconds
   * of the timeout, whether or not the source answers; a second caller waits for the first.
   */
  public void stop(Duration timeout) {
    try {
      if (stopping.compareAndSet(false, true)) {
        try {
          shutDown(timeout);
        } finally {
          stopped.countDown();
        }
      } else {
        stopped.await();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** An interrupt ends the wait early; running jobs are released in any case. */
  private void shutDown(Duration timeout) throws InterruptedException {
    log.info("{} stops; {} running", options.worker(), Plural.of(slots.used(), "job"));
    claimer.close();
    slots.close();
    closeQuietly(listening);
    try {
      slots.awaitEmpty(timeout);
    } finally {
      services.source().giveUp();
      releaseRunning();
      stopThreads();
    }
  }

  private void releaseRunning() {
    slots.all().forEach(attempt -> attempt.stop(new StopReason.Shutdown()));
    slots.awaitEmptyUninterruptibly(STOP_HANDLERS);
    slots.all().forEach(AttemptExecutor::abandon);
    if (!slots.awaitEmptyUninterruptibly(FLUSH)) {
      log.warn(
          "{} could not be released: the jobs are requeued when their leases expire",
          Plural.of(slots.used(), "job"));
    }
  }

  /** Does not wait for a call that does not return; its thread ends with the process. */
  private void stopThreads() throws InterruptedException {
    long until = System.nanoTime() + STOP_THREADS.toNanos();
    claiming.end();
    upkeep.end();
    keeper.end();
    outbox.end();
    try {
      boolean ended =
          upkeep.awaitEnd(left(until))
              && keeper.awaitEnd(left(until))
              && outbox.awaitEnd(left(until))
              && claiming.awaitEnd(left(until));
      log.info("{} has stopped{}", options.worker(), ended ? "" : "; the source does not answer");
    } finally {
      services.close(left(until));
    }
  }

  private static Duration left(long until) {
    return Duration.ofNanos(Math.max(0, until - System.nanoTime()));
  }

  private static void closeQuietly(@Nullable AutoCloseable open) {
    if (open != null) {
      try {
        open.close();
      } catch (Exception e) {
        log.debug("could not stop listening", e);
      }
    }
  }
}
