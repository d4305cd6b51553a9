package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Threads;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt, from its claim to its end, in the order of this file: {@link #start} → {@link #run}:
 * {@link #begin} → {@link #perform} → {@link #end} → {@link #settle} → {@link #finish}.
 *
 * <p>Three threads may race to {@link #end}: the handler's, one that stops it, and the watchdog's
 * when the grace period is over. Whichever comes first, the return of the handler or its
 * abandoning, ends the attempt; the database's fence decides the rest.
 */
public final class AttemptExecutor {
  private static final Logger log = LoggerFactory.getLogger(AttemptExecutor.class);

  final AttemptServices services;
  final LeasedJob job;
  final @Nullable Kind<?> kind;
  final StopSignal stop;
  final HandlerThread thread = new HandlerThread();
  final AttemptContext context;
  private final long claimedAt;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean checkingIfLost = new AtomicBoolean();
  private volatile boolean begun;
  private volatile boolean abandoned;
  private volatile long leaseFrom;

  /**
   * @param kind null when the worker has no handler for the job
   * @param claimedAt when the claim was sent, on the monotonic clock
   */
  public AttemptExecutor(
      LeasedJob job, @Nullable Kind<?> kind, long claimedAt, AttemptServices services) {
    this.job = job;
    this.kind = kind;
    this.claimedAt = claimedAt;
    this.leaseFrom = claimedAt;
    this.services = services;
    this.stop = new StopSignal(job.lease());
    this.context =
        new AttemptContext(
            job,
            kind == null ? 0 : kind.version(),
            services,
            stop,
            thread,
            System::nanoTime,
            this::lost);
  }

  // ---- start: a slot and a thread

  /** False when no slot is free for it any more. */
  public boolean start() {
    if (!services.slots().add(this)) {
      return false;
    }
    services.metrics().time(Metrics.QUEUE_WAIT, job.queueWait());
    try {
      services
          .threads()
          .start(
              kind == null ? Threads.AUTO : kind.threads(),
              "job-" + lease(),
              () -> AttemptMdc.run(job, this::run));
    } catch (Throwable noThread) {
      services.slots().withdraw(this);
      throw noThread;
    }
    return true;
  }

  void run() {
    try {
      if (begin()) {
        end(perform());
      }
    } catch (Throwable e) {
      // No attempt may stay in its slot, heartbeat after heartbeat, while nothing runs for it.
      log.error("{} {} could not be run", job.kind(), lease(), e);
      end(new Outcome.Failed(Failure.from(e), null));
    } finally {
      if (abandoned) {
        services.slots().handlerLeft(this);
      }
    }
  }

  // ---- begin: only with its lease

  private boolean begin() {
    if (hasLostLease() || hasLostLeaseMeanwhile()) {
      services.log().skipped(this);
      end(new Outcome.LostBeforeItBegan());
      return false;
    }
    if (isEnded()) {
      return false;
    }
    services.log().started(this);
    begun = true;
    return !isEnded();
  }

  /** A process that was frozen between claim and start must check its lease before it begins. */
  private boolean hasLostLeaseMeanwhile() {
    Duration lease = services.options().timings().lease();
    if (System.nanoTime() - leaseFrom < lease.toNanos()) {
      return false;
    }
    long askedAt = System.nanoTime();
    boolean lost =
        services.source().ask(it -> it.heartbeat(List.of(lease()), lease)).stream()
            .anyMatch(result -> result.ack() == Ack.LEASE_LOST);
    if (!lost) {
      extended(askedAt);
    }
    return lost;
  }

  // ---- perform: what the handler does, as an outcome

  private Outcome perform() {
    long from = System.nanoTime();
    Outcome outcome = new HandlerCall(this).outcome();
    services.metrics().time(Metrics.RUN_TIME, Duration.ofNanos(System.nanoTime() - from));
    services.slots().ending(this);
    return outcome;
  }

  // ---- end: once, whatever comes first

  private void end(Outcome outcome) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      stop.end();
      context.reports().end();
      Outcome known = redacted(outcome);
      Optional<Settlement> settlement =
          new SettlementPolicy(
                  job, kind == null ? null : kind.retry(), isStrict(), ThreadLocalRandom.current())
              .on(known, stop.reason());
      if (settlement.isPresent()) {
        settle(settlement.get());
      } else if (known instanceof Outcome.Suspended) {
        services.cleaner().drop(context.files());
        giveBack();
        services.log().suspended(this);
      } else {
        finish(null, known instanceof Outcome.SettledItself ? Ack.ACCEPTED : Ack.LEASE_LOST);
      }
    } catch (Throwable bug) {
      notSettled(bug);
    }
  }

  private Outcome redacted(Outcome outcome) {
    // A handler that ended because its program was killed has been abandoned all the same.
    return abandoned && outcome instanceof Outcome.Failed
        ? new Outcome.Abandoned()
        : outcome.redacted(services.options().healing().redact());
  }

  private void settle(Settlement settlement) {
    Outbox outbox = services.outbox();
    // The handler's own transaction may hold the job's row locked.
    CompletableFuture<Ack> written =
        context.reports().isSettling() ? outbox.settleApart(settlement) : outbox.settle(settlement);
    CompletableFuture<?> unused =
        written.whenComplete(
            (ack, error) -> {
              if (error == null) {
                finish(settlement, ack);
              } else if (error instanceof RefusedException refused
                  && !(settlement instanceof Settlement.Fail)) {
                settle(new Settlement.Fail(lease(), Outcome.notStorable(refused), Duration.ZERO));
              } else {
                notSettled(error);
              }
            });
  }

  private void notSettled(Throwable error) {
    if (error instanceof Outbox.StoppedException) {
      log.warn("{} could not be settled before the worker stopped", lease());
    } else {
      log.error("{} could not be settled; its lease will run out", lease(), error);
    }
    finish(null, Ack.LEASE_LOST);
  }

  /**
   * The attempt is over: everything it has is given back.
   *
   * @param settlement null when nothing was settled: the handler's own transaction did, or the
   *     lease was lost
   */
  private void finish(@Nullable Settlement settlement, Ack ack) {
    // Counted before the slot is free: after a wait for the last job the metrics have it.
    services.log().count(this, settlement, ack);
    giveBack();
    services.cleaner().clean(context.files(), settlement, ack);
    services.log().ended(this, settlement, ack);
  }

  private void giveBack() {
    services.watchdog().forget(this);
    services.slots().remove(this);
  }

  // ---- stopped, lost, abandoned: by other threads

  public void stop(StopReason reason) {
    if (isEnded()) {
      return;
    }
    if (!stop.set(reason)) {
      if (reason.isLossOfLease()) {
        stop.kill();
      }
      return;
    }
    log.info("{} {}: {}", job.kind(), lease(), reason.text());
    services.watchdog().giveGrace(this);
    // Before the interrupt: a callback may let the handler end in good order.
    stop.fire();
    thread.interrupt();
    if (!begun) {
      // No thread runs it, and from now on none will: there is nothing to wait for.
      end(new Outcome.Failed(Failure.from(new CancelledException(reason.text())), null));
    }
  }

  /**
   * A call was answered with {@code LEASE_LOST}. An attempt whose settlement is being written no
   * longer holds its lease and did not lose it; nor did one whose own transaction has settled it,
   * which is checked on another thread.
   */
  public void lost() {
    if (isEnded() || context.waits().mayBeSuspended()) {
      return;
    }
    if (!context.reports().isSettling()) {
      stop(new StopReason.LeaseLost());
    } else if (checkingIfLost.compareAndSet(false, true)) {
      Thread.ofVirtual().name("lost-" + lease()).start(this::stopUnlessSucceeded);
    }
  }

  private void stopUnlessSucceeded() {
    try {
      if (!services.hasSucceeded(lease())) {
        stop(new StopReason.LeaseLost());
      }
    } catch (RuntimeException unknown) {
      checkingIfLost.set(false);
      log.debug(
          "{}: could not check whether the handler's transaction settled the job",
          lease(),
          unknown);
    }
  }

  /** Does not wait for the handler any longer. */
  public void abandon() {
    if (!isEnded()) {
      abandoned = true;
      // What is settled next may let another attempt begin.
      stop.killThen(() -> end(new Outcome.Abandoned()));
    }
  }

  // ---- read by others

  public LeasedJob job() {
    return job;
  }

  public Lease lease() {
    return job.lease();
  }

  public boolean isStrict() {
    return kind != null && kind.strict();
  }

  /** When the claim was sent, on the monotonic clock. */
  public long claimedAt() {
    return claimedAt;
  }

  /** When the heartbeat that last extended this lease was sent, on the monotonic clock. */
  public long leaseFrom() {
    return leaseFrom;
  }

  public void extended(long sentAt) {
    leaseFrom = sentAt;
  }

  public void onCommand(PendingCommand command) {
    context.steps().commands().onCommand(command);
  }

  public boolean isEnded() {
    return ended.get();
  }

  /** Whether a thread runs it. */
  public boolean hasBegun() {
    return begun;
  }

  /** Whether its handler runs, abandoned or not. */
  public boolean isHandling() {
    return thread.isRunning();
  }

  public boolean hasLostLease() {
    return stop.isLeaseLost();
  }
}
