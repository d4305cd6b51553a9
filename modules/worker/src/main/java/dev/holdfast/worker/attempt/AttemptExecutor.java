package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.Failure;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt: {@link #start} → {@link #perform} → {@link #finalOutcome} → {@link #settle}; its
 * {@link AttemptListener} cleans up.
 *
 * <p>Three threads may race: the handler's, one that stops it, and the watchdog's when the grace
 * period is over. Whichever comes first, the return of the handler or its abandoning, ends the
 * attempt; the database's fence decides the rest. {@link AttemptListener#ended} is called once in
 * any case.
 */
public final class AttemptExecutor {
  private static final Logger log = LoggerFactory.getLogger(AttemptExecutor.class);

  private final LeasedJob job;
  private final @Nullable Kind<?> kind;
  private final AttemptServices services;
  private final AttemptListener listener;
  private final StopSignal stop;
  private final AttemptContext context;
  private final HandlerThread thread = new HandlerThread();
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
      LeasedJob job,
      @Nullable Kind<?> kind,
      long claimedAt,
      AttemptServices services,
      AttemptListener listener) {
    this.job = job;
    this.kind = kind;
    this.services = services;
    this.listener = listener;
    this.claimedAt = claimedAt;
    this.leaseFrom = claimedAt;
    this.stop = new StopSignal(job.lease());
    this.context = new AttemptContext(job, services, stop, System::nanoTime, this::lost);
  }

  // ---- read by others

  public LeasedJob job() {
    return job;
  }

  public Lease lease() {
    return job.lease();
  }

  public AttemptFiles files() {
    return context.files();
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

  // ---- the pipeline

  public void run() {
    if (start()) {
      end(perform());
    }
  }

  private boolean start() {
    if (isEnded()) {
      return false;
    }
    begun = true;
    return true;
  }

  private Outcome perform() {
    long start = System.nanoTime();
    Outcome outcome =
        new HandlerCall(context, services, stop, thread, () -> listener.beginning(this))
            .outcome(kind);
    listener.performed(this, Duration.ofNanos(System.nanoTime() - start));
    return outcome;
  }

  private void end(Outcome result) {
    if (ended.compareAndSet(false, true)) {
      SettleAttempt settle =
          new SettleAttempt(
              lease(),
              services.outbox(),
              context.reports()::isSettling,
              (settlement, ack) -> listener.ended(this, settlement, ack));
      try {
        stop.end();
        context.reports().end();
        settle(finalOutcome(result), settle);
      } catch (Throwable bug) {
        settle.failed(bug);
      }
    }
  }

  /** How the attempt ended, given how its handler ended. */
  private Outcome finalOutcome(Outcome result) {
    // A handler that ended because its program was killed has been abandoned all the same.
    return abandoned && result instanceof Outcome.Failed
        ? new Outcome.Abandoned()
        : result.redacted(services.options().healing().redact());
  }

  private void settle(Outcome outcome, SettleAttempt settle) {
    Optional<Settlement> settlement =
        new SettlementPolicy(
                job, kind == null ? null : kind.retry(), isStrict(), ThreadLocalRandom.current())
            .on(outcome, stop.reason());
    if (settlement.isPresent()) {
      settle.write(settlement.get());
    } else {
      listener.ended(
          this, null, outcome instanceof Outcome.SettledItself ? Ack.ACCEPTED : Ack.LEASE_LOST);
    }
  }

  // ---- stopped, lost, abandoned

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
    listener.stopping(this);
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
    if (isEnded()) {
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

  /** Discards an attempt that has not started; settles nothing. False when it has ended already. */
  public boolean skip() {
    return ended.compareAndSet(false, true);
  }

  /** Does not wait for the handler any longer. */
  public void abandon() {
    if (!isEnded()) {
      abandoned = true;
      // What is settled next may let another attempt begin.
      stop.killThen(() -> end(new Outcome.Abandoned()));
    }
  }

  /** Something failed around the handler. */
  public void broken(Throwable cause) {
    end(new Outcome.Failed(Failure.from(cause), null));
  }
}
