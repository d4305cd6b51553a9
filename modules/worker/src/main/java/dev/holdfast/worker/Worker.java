package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Codec;
import dev.holdfast.model.Lease;
import dev.holdfast.model.LeasedJob;
import dev.holdfast.model.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs, runs their handlers and settles them, until it is stopped.
 *
 * <p>This is the wiring; each part is one concern: {@link Claimer} fills the {@link Slots}, {@link
 * JobRun} is one attempt, {@link Outbox} writes, {@link LeaseKeeper} keeps leases alive, {@link
 * Watchdog} stops what is out of time, {@link Reaper} recovers what others lost.
 */
public final class Worker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Worker.class);
  private static final Duration FLUSH = Duration.ofSeconds(5);

  private final JobSource source;
  private final WorkerOptions options;
  private final Codec codec;
  private final Map<String, Kind<?>> kinds;
  private final List<JobListener> listeners;
  private final Metrics metrics;
  private final Slots slots;
  private final Outbox outbox;
  private final LeaseKeeper keeper;
  private final Watchdog watchdog;
  private final Claimer claimer;
  private final Loop claiming;
  private final Loop reaping;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private @Nullable AutoCloseable listening;

  public Worker(
      JobSource source,
      WorkerOptions options,
      Codec codec,
      List<Kind<?>> kinds,
      List<JobListener> listeners,
      Metrics metrics) {
    this.source = source;
    this.options = options;
    this.codec = codec;
    this.kinds = kinds.stream().collect(Collectors.toMap(Kind::name, Function.identity()));
    this.listeners = List.copyOf(listeners);
    this.metrics = metrics;
    this.slots = new Slots(options.concurrency());
    this.outbox = new Outbox(source);
    this.keeper = new LeaseKeeper(source, slots, options.timings(), options.worker(), metrics);
    this.watchdog = new Watchdog(options.timings(), metrics);
    this.claimer = new Claimer(source, options, slots, metrics, this::begin);
    this.claiming = new Loop("claim", claimer::runOnce);
    this.reaping =
        new Loop(
            "sweep", new Reaper(source, options.timings(), metrics, System::nanoTime)::runOnce);
    metrics.gauge(Metrics.INFLIGHT, slots::used);
  }

  public Worker start() {
    startKeeping();
    reaping.start();
    claiming.start();
    listening =
        source.listen(
            options.queues(),
            queue -> {
              claimer.ring();
              claiming.wake();
            });
    log.info(
        "{} serves {} with {} places", options.worker(), options.queues(), options.concurrency());
    return this;
  }

  private void startKeeping() {
    outbox.start();
    keeper.start();
  }

  /** For tests: runs everything that is due, on and on, until nothing is left; then stops. */
  public void drain() {
    startKeeping();
    try {
      do {
        claimer.runOnce();
        slots.awaitEmpty(Duration.ofDays(1));
      } while (claimer.claimedLast() > 0);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  public String name() {
    return options.worker();
  }

  public Metrics metrics() {
    return metrics;
  }

  // ---- one attempt

  private void begin(LeasedJob job, long claimedAt) {
    JobRun run = new JobRun(job, kinds.get(job.kind()), claimedAt, new Here());
    slots.add(run);
    metrics.time(Metrics.QUEUE_WAIT, job.queueWait());
    Thread.ofVirtual().name("job-" + job.lease()).start(() -> run(run));
  }

  private void run(JobRun run) {
    if (tooLate(run)) {
      metrics.count(Metrics.DUPLICATE_SKIPS, 1);
      log.info("{} was taken over before it began; skipped", run.lease());
      slots.remove(run);
      claiming.wake();
      return;
    }
    log.debug("{} runs {} {}", options.worker(), run.job().kind(), run.lease());
    watchdog.watch(run);
    tell(listener -> listener.started(run.job(), options.worker()));
    long start = System.nanoTime();
    try {
      run.run();
    } finally {
      metrics.time(Metrics.RUN_TIME, Duration.ofNanos(System.nanoTime() - start));
    }
  }

  /** A process that was frozen between claim and start must ask before it begins. */
  private boolean tooLate(JobRun run) {
    if (System.nanoTime() - run.leaseFrom() < options.timings().lease().toNanos()) {
      return false;
    }
    return ask(() -> source.heartbeat(List.of(run.lease()), options.timings().lease())).stream()
        .anyMatch(pulse -> pulse.ack() == Ack.LEASE_LOST);
  }

  /** Asks until there is an answer, or the worker has stopped. */
  private <T> T ask(Supplier<T> question) {
    while (true) {
      try {
        return question.get();
      } catch (SourceUnavailableException away) {
        if (stopped.get()) {
          throw away;
        }
        LockSupport.parkNanos(Loop.jittered(Duration.ofSeconds(1)).toNanos());
      }
    }
  }

  private void tell(Consumer<JobListener> what) {
    for (JobListener listener : listeners) {
      try {
        what.accept(listener);
      } catch (RuntimeException | Error thrown) {
        log.warn("a listener failed", thrown);
      }
    }
  }

  /** What an attempt sees of its worker. */
  private final class Here implements JobRun.Host {
    @Override
    public Codec codec() {
      return codec;
    }

    @Override
    public Outbox outbox() {
      return outbox;
    }

    @Override
    public boolean succeeded(Lease lease) {
      return ask(() -> source.succeeded(lease));
    }

    @Override
    public void stopping(JobRun run) {
      watchdog.giveGrace(run);
    }

    @Override
    public void ended(JobRun run, @Nullable Settlement settlement, Ack ack) {
      watchdog.forget(run);
      slots.remove(run);
      claiming.wake();
      if (ack == Ack.LEASE_LOST) {
        metrics.count(Metrics.LATE_RESULTS, 1);
        log.info("late result of {} {} refused: it lost its lease", run.job().kind(), run.lease());
      } else if (settlement instanceof Settlement.Fail fail && fail.failure().retryable()) {
        metrics.count(Metrics.RETRIES, "code", fail.failure().code(), 1);
      }
      tell(
          listener -> {
            if (settlement == null && ack == Ack.LEASE_LOST) {
              listener.lost(run.job());
            } else {
              listener.settled(
                  run.job(),
                  settlement == null ? new Settlement.Succeed(run.lease(), null) : settlement,
                  ack);
            }
          });
    }
  }

  // ---- the end

  @Override
  public void close() {
    stop(options.shutdownTimeout());
  }

  /**
   * Claims nothing more, waits for running jobs, and gives back at once those that take longer.
   * Nothing is lost: what could not be given back is recovered when its lease runs out.
   */
  public void stop(Duration patience) {
    if (!stopped.compareAndSet(false, true)) {
      return;
    }
    log.info("{} stops; {} jobs are running", options.worker(), slots.used());
    claimer.close();
    closeQuietly(listening);
    claiming.close();
    boolean finished = false;
    try {
      finished = slots.awaitEmpty(patience);
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
    if (!finished) {
      giveBack();
    }
    reaping.close();
    keeper.close();
    watchdog.close();
    outbox.close();
    log.info("{} has stopped", options.worker());
  }

  private void giveBack() {
    for (JobRun run : slots.all()) {
      run.stop(new StopReason.Shutdown());
      run.abandon();
    }
    try {
      if (!slots.awaitEmpty(FLUSH)) {
        log.warn("{} jobs could not be given back; their leases will run out", slots.used());
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
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
