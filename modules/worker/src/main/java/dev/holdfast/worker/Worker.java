package dev.holdfast.worker;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.job.JobId;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.attempt.AttemptContext;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.AttemptResources;
import dev.holdfast.worker.attempt.Outbox;
import dev.holdfast.worker.attempt.StepSource;
import dev.holdfast.worker.attempt.StopReason;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Threads;
import dev.holdfast.worker.lease.Claimer;
import dev.holdfast.worker.lease.LeaseKeeper;
import dev.holdfast.worker.lease.Reaper;
import dev.holdfast.worker.lease.Slots;
import dev.holdfast.worker.lease.Watchdog;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.RetryingSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs, runs their handlers and settles them, until it is stopped.
 *
 * <p>This is the wiring; each part is one concern: {@link Claimer} fills the {@link Slots}, {@link
 * AttemptExecutor} is one attempt, {@link Outbox} writes, {@link LeaseKeeper} keeps leases alive,
 * {@link Watchdog} stops what is out of time, {@link Reaper} recovers what others lost.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  // What stopping may take beyond the caller's patience, step by step.
  private static final Duration LEAVE = Duration.ofSeconds(1);
  private static final Duration FLUSH = Duration.ofSeconds(3);
  // Long enough for a claim on a busy server: what it brings is given back by the one who asked.
  private static final Duration WIND_UP = Duration.ofSeconds(4);

  private final JobSource source;
  private final RetryingSource patient;
  private final WorkerOptions options;
  private final Codec codec;
  private final Map<String, Kind<?>> kinds;
  private final List<JobListener> listeners;
  private final Metrics metrics;
  private final Slots slots;
  private final Outbox outbox;
  private final LeaseKeeper keeper;
  private final Watchdog watchdog;
  private final Publisher publisher;
  private final Cleaner cleaner = new Cleaner();
  private final HandlerThreads threads;
  private final OverdueHandlers overdue = new OverdueHandlers();
  private final Claimer claimer;
  private final Loop claiming;
  private final Loop reaping;
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile boolean draining;
  private volatile @Nullable AutoCloseable listening;

  public Worker(
      JobSource source,
      WorkerOptions options,
      Codec codec,
      List<Kind<?>> kinds,
      List<JobListener> listeners,
      Metrics metrics) {
    this.source = source;
    this.patient = new RetryingSource(source);
    this.options = options;
    this.codec = codec;
    this.kinds = kinds.stream().collect(Collectors.toMap(Kind::name, Function.identity()));
    this.listeners = List.copyOf(listeners);
    this.metrics = metrics;
    this.slots = new Slots(options.concurrency());
    this.threads = new HandlerThreads(options.concurrency());
    this.outbox = new Outbox(source);
    this.keeper =
        new LeaseKeeper(
            source, slots, options.timings(), options.worker(), metrics, System::nanoTime);
    this.watchdog = new Watchdog(options.timings(), metrics);
    this.publisher = new Publisher(options.artifacts(), patient);
    this.claimer = new Claimer(source, options, slots, metrics, this::begin);
    this.claiming = new Loop("claim", this::claim);
    this.reaping =
        new Loop(
            "sweep",
            new KindAnnouncer(source, options, this.kinds.keySet())
                .before(new Reaper(source, options.timings(), metrics, System::nanoTime)::runOnce));
    metrics.gauge(Metrics.INFLIGHT, slots::used);
    metrics.gauge(Metrics.OVERDUE, overdue::count);
  }

  public Worker start() {
    startKeeping();
    reaping.start();
    claiming.start();
    try {
      listening = source.listen(options.queues(), queue -> ring());
    } catch (RuntimeException trouble) {
      log.warn("{} cannot listen for jobs and finds them by polling", options.worker(), trouble);
    }
    log.info(
        "{} serves {} with {}",
        options.worker(),
        options.queues(),
        Plural.of(options.concurrency(), "place"));
    return this;
  }

  private void startKeeping() {
    if (stopping.get() || !started.compareAndSet(false, true)) {
      throw new IllegalStateException("a worker starts once; build another one");
    }
    outbox.start();
    keeper.start();
  }

  private void ring() {
    claimer.ring();
    claiming.wake();
  }

  private Duration claim() {
    keeper.connect();
    return claimer.runOnce();
  }

  /** For tests: runs everything that is due, on and on, until nothing is left; then stops. */
  public void drain() {
    startKeeping();
    draining = true;
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

  public String name() {
    return options.worker();
  }

  /** Takes no new jobs; those it has go on, and so do their heartbeats. */
  public void pause() {
    claimer.pause(true);
  }

  public void resume() {
    claimer.pause(false);
    claiming.wake();
  }

  /** The jobs it is at, the one it has been at longest first. */
  public List<JobId> running() {
    return slots.all().stream()
        .sorted(Comparator.comparingLong(AttemptExecutor::claimedAt))
        .map(run -> run.job().id())
        .toList();
  }

  /** Handlers that do not end although their attempts were given up, the longest first. */
  public List<OverdueHandler> overdue() {
    return overdue.all();
  }

  public Metrics metrics() {
    return metrics;
  }

  // ---- one attempt

  private boolean begin(LeasedJob job, long claimedAt) {
    AttemptExecutor run = new AttemptExecutor(job, kinds.get(job.kind()), claimedAt, new Here());
    if (!slots.add(run)) {
      return false;
    }
    metrics.time(Metrics.QUEUE_WAIT, job.queueWait());
    try {
      Kind<?> kind = kinds.get(job.kind());
      threads.start(
          kind == null ? Threads.AUTO : kind.threads(), "job-" + job.lease(), () -> run(run));
    } catch (Throwable noThread) {
      slots.remove(run);
      throw noThread;
    }
    return true;
  }

  private void run(AttemptExecutor run) {
    try {
      if (run.hasLostLease() || isTakenOver(run)) {
        skip(run);
        return;
      }
      if (run.isEnded()) {
        return; // It was told to stop before a thread came to it.
      }
      log.debug("{} runs {} {}", options.worker(), run.job().kind(), run.lease());
      tell(listener -> listener.started(run.job(), options.worker()));
      run.run();
    } catch (Throwable trouble) {
      // No attempt may stay in its slot, heartbeat after heartbeat, with nobody working on it.
      log.error("{} {} could not be run", run.job().kind(), run.lease(), trouble);
      run.broken(trouble);
    } finally {
      overdue.forget(run);
    }
  }

  private void skip(AttemptExecutor run) {
    log.info("{} was taken over before it began; skipped", run.lease());
    metrics.count(Metrics.DUPLICATE_SKIPS, 1);
    if (run.skip()) {
      free(run);
    }
  }

  private void free(AttemptExecutor run) {
    watchdog.forget(run);
    slots.remove(run);
    wakeClaiming();
  }

  private void wakeClaiming() {
    if (claimer.isWorthWaking()) {
      claiming.wake();
    }
  }

  /** A process that was frozen between claim and start must ask before it begins. */
  private boolean isTakenOver(AttemptExecutor run) {
    Duration lease = options.timings().lease();
    if (System.nanoTime() - run.leaseFrom() < lease.toNanos()) {
      return false;
    }
    long askedAt = System.nanoTime();
    List<HeartbeatResult> pulses = patient.ask(it -> it.heartbeat(List.of(run.lease()), lease));
    if (pulses.stream().anyMatch(pulse -> pulse.ack() == Ack.LEASE_LOST)) {
      return true;
    }
    run.extended(askedAt);
    return false;
  }

  private void tell(Consumer<JobListener> what) {
    for (JobListener listener : listeners) {
      try {
        what.accept(listener);
      } catch (Throwable thrown) {
        log.warn("a listener failed", thrown);
      }
    }
  }

  /** What an attempt sees of its worker. */
  private final class Here implements AttemptExecutor.Host {
    @Override
    public Codec codec() {
      return codec;
    }

    @Override
    public Outbox outbox() {
      return outbox;
    }

    @Override
    public AttemptResources workplace(Lease lease) {
      return new AttemptResources(
          lease, options.scratch(), publisher, options.timings().cancelGrace());
    }

    @Override
    public Optional<Publisher.Finished> finished(
        Lease lease, List<String> artifacts, Consumer<String> damaged) {
      return publisher.finished(lease, artifacts, damaged);
    }

    @Override
    public boolean mayBeKnown(LeasedJob job) {
      // Whoever drains a queue wants to know at once what is missing.
      return !draining
          && options.unknownKinds().isPositive()
          && patient.ask(it -> it.mayBeKnown(job, options.unknownKinds()));
    }

    @Override
    public boolean succeeded(Lease lease) {
      return patient.ask(it -> it.succeeded(lease));
    }

    @Override
    public AttemptContext.Healer healer(AttemptExecutor run) {
      return new StepSource(run.lease(), options, metrics, patient);
    }

    @Override
    public void beginning(AttemptExecutor run) {
      watchdog.watch(run);
    }

    @Override
    public void performed(AttemptExecutor run, Duration took) {
      metrics.time(Metrics.RUN_TIME, took);
      slots.ending(run);
      wakeClaiming();
    }

    @Override
    public void stopping(AttemptExecutor run) {
      watchdog.giveGrace(run);
    }

    @Override
    public void ended(AttemptExecutor run, @Nullable Settlement settlement, Ack ack) {
      // Counted before its place is free: who waits for the last job then sees it in the figures.
      count(run, settlement, ack);
      overdue.note(run);
      free(run);
      cleaner.clean(run.workplace(), settlement, ack);
      if (settlement == null && ack == Ack.LEASE_LOST) {
        tell(listener -> listener.lost(run.job()));
      } else {
        Settlement ending =
            settlement == null ? new Settlement.Succeed(run.lease(), null) : settlement;
        tell(listener -> listener.settled(run.job(), ending, ack));
      }
    }
  }

  private void count(AttemptExecutor run, @Nullable Settlement settlement, Ack ack) {
    LeasedJob job = run.job();
    if (ack == Ack.ACCEPTED) {
      if (settlement instanceof Settlement.Fail(var lease, var failure, var after)) {
        boolean again = failure.retryable() && job.failures() + 1 < job.maxAttempts();
        if (again) {
          metrics.count(Metrics.RETRIES, "code", failure.code(), 1);
        }
        // The message is in the job; a log is read by more people than may see that.
        log.warn(
            "{} {} failed on {}: {}{}",
            job.kind(),
            lease,
            options.worker(),
            failure.code(),
            again ? "; it is tried again" : "");
      }
    } else if (settlement != null || run.hasLostLease()) {
      metrics.count(Metrics.LATE_RESULTS, 1);
      log.info("late result of {} {} refused: it lost its lease", job.kind(), run.lease());
    }
  }

  // ---- the end

  @Override
  public void close() {
    stop(options.shutdownTimeout());
  }

  /**
   * Claims nothing more, waits for running jobs, and gives back at once those that take longer.
   * Nothing is lost: what could not be given back is recovered when its lease runs out. Returns
   * within a few seconds of the caller's patience, whether or not the source answers; a second
   * caller waits for the first.
   */
  public void stop(Duration patience) {
    try {
      if (stopping.compareAndSet(false, true)) {
        try {
          windDown(patience);
        } finally {
          stopped.countDown();
        }
      } else {
        stopped.await();
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }

  /** An interrupt cuts the waiting short; what runs is given back all the same. */
  private void windDown(Duration patience) throws InterruptedException {
    log.info("{} stops; {} running", options.worker(), Plural.of(slots.used(), "job"));
    claimer.close();
    slots.close();
    claiming.end();
    closeQuietly(listening);
    try {
      slots.awaitEmpty(patience);
    } finally {
      patient.giveUp();
      giveBack();
      windUp();
    }
  }

  private void giveBack() {
    slots.all().forEach(run -> run.stop(new StopReason.Shutdown()));
    slots.awaitEmptyUninterruptibly(LEAVE);
    slots.all().forEach(AttemptExecutor::abandon);
    if (!slots.awaitEmptyUninterruptibly(FLUSH)) {
      log.warn(
          "{} could not be given back: recovery waits for the lease to run out",
          Plural.of(slots.used(), "job"));
    }
  }

  /** A call that does not come back is not waited for; its thread ends with the process. */
  private void windUp() throws InterruptedException {
    long until = System.nanoTime() + WIND_UP.toNanos();
    reaping.end();
    keeper.end();
    outbox.end();
    try {
      boolean quiet =
          claiming.awaitEnd(left(until))
              && reaping.awaitEnd(left(until))
              && keeper.awaitEnd(left(until))
              && outbox.awaitEnd(left(until));
      log.info("{} has stopped{}", options.worker(), quiet ? "" : "; the source does not answer");
    } finally {
      watchdog.close();
      threads.close();
      outbox.close();
      cleaner.close(left(until));
    }
  }

  private static Duration left(long until) {
    return Duration.ofNanos(Math.max(0, until - System.nanoTime()));
  }

  private static void closeQuietly(@Nullable AutoCloseable open) {
    if (open != null) {
      try {
        open.close();
      } catch (Exception trouble) {
        log.debug("could not stop listening", trouble);
      }
    }
  }
}
