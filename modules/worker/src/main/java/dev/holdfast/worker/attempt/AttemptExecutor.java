package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.job.FailedException;
import dev.holdfast.model.job.Failure;
import dev.holdfast.model.job.FailureCategory;
import dev.holdfast.model.job.RetryPolicy;
import dev.holdfast.model.value.Codec;
import dev.holdfast.model.value.Json;
import dev.holdfast.model.value.Limits;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.handler.CancelledException;
import dev.holdfast.worker.handler.Handler;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.SnoozeException;
import dev.holdfast.worker.handler.UnknownKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt under way: perform → verdict → settle.
 *
 * <p>Three things may race: the handler leaving, somebody telling it to stop, and the grace period
 * running out. Whichever of leaving and giving up is first ends the attempt; the database's fence
 * decides all that is left. However it goes, {@link Host#ended} is called once.
 */
public final class AttemptExecutor {
  private static final Logger log = LoggerFactory.getLogger(AttemptExecutor.class);

  /** What an attempt needs from its worker. */
  public interface Host {
    Codec codec();

    Outbox outbox();

    public AttemptResources workplace(Lease lease);

    /** What an earlier attempt of the job has published, if it is all of these and whole. */
    Optional<Publisher.Finished> finished(
        Lease lease, List<String> artifacts, Consumer<String> damaged);

    /** Whether another worker may have a handler for it. */
    boolean mayBeKnown(LeasedJob job);

    /** Asks until it knows whether the handler's own transaction has settled the attempt. */
    boolean succeeded(Lease lease);

    AttemptContext.Healer healer(AttemptExecutor run);

    /** The handler is about to begin: from now on its time counts. */
    void beginning(AttemptExecutor run);

    /** The handler has left, after this time; its ending is settled next. */
    void performed(AttemptExecutor run, Duration took);

    void stopping(AttemptExecutor run);

    void ended(AttemptExecutor run, @Nullable Settlement settlement, Ack ack);
  }

  private final LeasedJob job;
  private final @Nullable Kind<?> kind;
  private final Host host;
  private final AttemptResources workplace;
  private final AttemptContext context;
  private final long claimedAt;
  private final AtomicReference<@Nullable StopReason> stop = new AtomicReference<>();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean askingIfLost = new AtomicBoolean();
  private @Nullable Thread handling;
  private volatile boolean entered;
  private volatile long leaseFrom;
  private volatile boolean givenUp;

  public AttemptExecutor(LeasedJob job, @Nullable Kind<?> kind, long claimedAt, Host host) {
    this.job = job;
    this.kind = kind;
    this.host = host;
    this.claimedAt = claimedAt;
    this.leaseFrom = claimedAt;
    this.workplace = host.workplace(job.lease());
    this.context =
        new AttemptContext(
            job,
            host.codec(),
            host.outbox(),
            workplace,
            System::nanoTime,
            this::lost,
            host.healer(this));
  }

  public LeasedJob job() {
    return job;
  }

  public Lease lease() {
    return job.lease();
  }

  public AttemptResources workplace() {
    return workplace;
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

  public void heard(PendingCommand control) {
    context.heard(control);
  }

  public boolean isEnded() {
    return ended.get();
  }

  /** Whether a thread has come to it. */
  public boolean hasBegun() {
    return entered;
  }

  /** Whether its handler is at work, given up or not. */
  public synchronized boolean isHandling() {
    return handling != null;
  }

  // ---- perform

  public void run() {
    if (isEnded()) {
      return;
    }
    entered = true;
    long start = System.nanoTime();
    Outcome outcome = perform();
    host.performed(this, Duration.ofNanos(System.nanoTime() - start));
    end(outcome);
  }

  private Outcome perform() {
    try {
      if (kind == null) {
        return withoutHandler();
      }
      enter();
      return handled(kind);
    } catch (Throwable thrown) {
      // Whatever a handler throws, even an Error, hurts its own job and no other.
      leave();
      return outcomeOf(thrown);
    } finally {
      leave();
    }
  }

  private Outcome withoutHandler() {
    String noHandler = "no handler for kind '" + job.kind() + "' on ";
    if (host.mayBeKnown(job)) {
      log.info("{} {} is left for a worker that has a handler for it", job.kind(), lease());
      context.event("kind:unknown", Map.of("message", noHandler + "this worker: left for others"));
      return new Outcome.Snoozed(UnknownKind.delay(lease().attempt()));
    }
    return failed(FailureCategory.CONFIGURATION, Failure.NO_HANDLER, noHandler + "any live worker");
  }

  private <T> Outcome handled(Kind<T> how) throws Exception {
    Optional<Publisher.Finished> finished =
        how.artifacts().isEmpty() || context.isSentBack()
            ? Optional.empty()
            : host.finished(
                lease(),
                how.artifacts(),
                name -> context.event("artifact:damaged", Map.of("name", name)));
    if (finished.isPresent()) {
      log.info("{} {} finds its artifacts whole and does not run again", job.kind(), lease());
      return new Outcome.Succeeded(resultOf(finished.get()));
    }
    T payload;
    try {
      payload = host.codec().decode(job.payload(), how.payload());
    } catch (RefusedException mismatch) {
      return failed(
          FailureCategory.DATA_QUALITY, Failure.VALIDATION, String.valueOf(mismatch.getMessage()));
    }
    host.beginning(this);
    context.checkCancelled();
    Object result = handled(how.handler(), payload);
    if (context.isSettling()) {
      leave();
      return host.succeeded(lease())
          ? new Outcome.SettledItself()
          : failed(
              FailureCategory.USER_CODE,
              Failure.HANDLER_FAILED,
              "the handler settled in a transaction that it did not commit");
    }
    return new Outcome.Succeeded(result == null ? null : encoded(result));
  }

  /** From its first line, and again from there after a hard reset of one of its steps. */
  private <T> @Nullable Object handled(Handler<T> handler, T payload) throws Exception {
    while (true) {
      try {
        Object result = handler.handle(payload, context);
        if (!context.beginsAgain()) {
          return result;
        }
      } catch (Throwable thrown) {
        if (!context.beginsAgain()) {
          throw thrown;
        }
      }
      log.info("{} {} begins anew", job.kind(), lease());
    }
  }

  private Json resultOf(Publisher.Finished finished) {
    return finished.result() == null
        ? encoded(Map.of("artifacts", finished.artifacts()))
        : finished.result();
  }

  private Json encoded(Object result) {
    try {
      return Limits.result(host.codec().encode(result));
    } catch (RefusedException refused) {
      // A codec does not know what the value is for.
      throw refused.refusal() == Refusal.PAYLOAD_NOT_JSON
          ? new RefusedException(Refusal.RESULT_NOT_JSON, String.valueOf(refused.getMessage()))
          : refused;
    }
  }

  private Outcome outcomeOf(Throwable thrown) {
    try {
      // A commit whose answer was lost throws, and has settled the job all the same.
      if (context.isSettling() && host.succeeded(lease())) {
        return new Outcome.SettledItself();
      }
    } catch (RuntimeException unknown) {
      // Then the fence will tell: this failure changes nothing if the transaction has committed.
      log.warn("{}: whether it has settled itself could not be asked", lease(), unknown);
    }
    return switch (thrown) {
      case SnoozeException snooze -> new Outcome.Snoozed(snooze.delay());
      case FailedException failed -> new Outcome.Failed(Failure.from(failed), failed.retryAfter());
      // A slip of the handler in what it said about its work; the work itself may yet succeed.
      case RefusedException slip
          when slip.refusal() == Refusal.BAD_PROGRESS || slip.refusal() == Refusal.BAD_DELAY ->
          new Outcome.Failed(notStorable(slip).withRetryable(true), null);
      case RefusedException refused -> new Outcome.Failed(notStorable(refused), null);
      case OutOfMemoryError memory ->
          failed(FailureCategory.INFRASTRUCTURE, "OUT_OF_MEMORY", String.valueOf(memory));
      default -> new Outcome.Failed(Failure.from(thrown), null);
    };
  }

  private static Failure notStorable(RefusedException refused) {
    return Failure.from(refused).withCode(refused.refusal().name());
  }

  private static Outcome failed(FailureCategory category, String code, String message) {
    return new Outcome.Failed(Failure.of(category, code, message), null);
  }

  /** A handler that was told to stop before it began does not begin. */
  private synchronized void enter() {
    StopReason reason = stop.get();
    if (reason != null) {
      throw new CancelledException(reason.text());
    }
    handling = Thread.currentThread();
  }

  /** From here on an interrupt would hit the worker's own work, so none comes any more. */
  private synchronized void leave() {
    handling = null;
    Thread.interrupted();
  }

  // ---- told to stop

  public void stop(StopReason reason) {
    if (isEnded()) {
      return;
    }
    StopReason before =
        stop.getAndUpdate(old -> old == null || reason.outranks(old) ? reason : old);
    if (before != null) {
      return; // the handler knows already
    }
    log.info("{} {}: {}", job.kind(), lease(), reason.text());
    host.stopping(this);
    // Before the interrupt: whoever is woken by it may look why.
    context.stop(reason);
    synchronized (this) {
      if (handling != null) {
        handling.interrupt();
      }
    }
    if (!entered) {
      // No thread has come to it, and from now on none will begin: there is nothing to wait for.
      end(new Outcome.Failed(Failure.from(new CancelledException(reason.text())), null));
    }
  }

  public boolean hasLostLease() {
    return stop.get() instanceof StopReason.LeaseLost;
  }

  /**
   * Somebody was told that the lease is lost. An attempt whose ending is being written no longer
   * holds one and did not lose it; nor did one whose own transaction has settled it, which is not
   * for the caller to wait for.
   */
  public void lost() {
    if (isEnded()) {
      return;
    }
    if (!context.isSettling()) {
      stop(new StopReason.LeaseLost());
    } else if (askingIfLost.compareAndSet(false, true)) {
      Thread.ofVirtual().name("lost-" + lease()).start(this::stopUnlessSucceeded);
    }
  }

  private void stopUnlessSucceeded() {
    try {
      if (!host.succeeded(lease())) {
        stop(new StopReason.LeaseLost());
      }
    } catch (RuntimeException unknown) {
      askingIfLost.set(false);
      log.debug("{}: whether it has settled itself could not be asked", lease(), unknown);
    }
  }

  /** Ends it before it began, without a word; false when it has ended already. */
  public boolean skip() {
    return ended.compareAndSet(false, true);
  }

  /** Does not wait for the handler any longer. */
  public void abandon() {
    if (!isEnded()) {
      givenUp = true;
      // Its programs first: what is settled next may let another attempt begin.
      context.abandon(() -> end(new Outcome.Abandoned()));
    }
  }

  /** Something went wrong around the handler. */
  public void broken(Throwable trouble) {
    end(new Outcome.Failed(Failure.from(trouble), null));
  }

  // ---- settle

  private void end(Outcome left) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    // A handler that left because its program was killed has been given up all the same.
    Outcome outcome =
        givenUp && left instanceof Outcome.Failed ? new Outcome.Abandoned() : told(left);
    try {
      context.end();
      @Nullable RetryPolicy policy = kind == null ? null : kind.retry();
      SettlementPolicy verdict =
          new SettlementPolicy(job, policy, isStrict(), ThreadLocalRandom.current());
      verdict
          .on(outcome, stop.get())
          .ifPresentOrElse(
              this::settle,
              () ->
                  host.ended(
                      this,
                      null,
                      outcome instanceof Outcome.SettledItself ? Ack.ACCEPTED : Ack.LEASE_LOST));
    } catch (Throwable bug) {
      unsettled(bug);
    }
  }

  /** An exception, or a program's last words, may tell more than is to be kept. */
  private Outcome told(Outcome left) {
    return left instanceof Outcome.Failed(var failure, var after)
        ? new Outcome.Failed(failure.scrubbed(context.scrubber()::scrub), after)
        : left;
  }

  private void settle(Settlement settlement) {
    Outbox outbox = host.outbox();
    CompletableFuture<?> unused =
        (context.isSettling() ? outbox.settleApart(settlement) : outbox.settle(settlement))
            .whenComplete((ack, trouble) -> answered(settlement, ack, trouble));
  }

  private void answered(Settlement settlement, Ack ack, @Nullable Throwable trouble) {
    if (trouble == null) {
      host.ended(this, settlement, ack);
    } else if (trouble instanceof RefusedException refused
        && !(settlement instanceof Settlement.Fail)) {
      settle(new Settlement.Fail(lease(), notStorable(refused), Duration.ZERO));
    } else {
      unsettled(trouble);
    }
  }

  private void unsettled(Throwable trouble) {
    if (trouble instanceof Outbox.StoppedException) {
      log.warn("{} could not be settled before the worker stopped", lease());
    } else {
      log.error("{} could not be settled; its lease will run out", lease(), trouble);
    }
    host.ended(this, null, Ack.LEASE_LOST);
  }
}
