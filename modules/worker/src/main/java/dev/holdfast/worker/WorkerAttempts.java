package dev.holdfast.worker;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.attempt.Settlement;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.AttemptListener;
import dev.holdfast.worker.attempt.AttemptMdc;
import dev.holdfast.worker.attempt.AttemptServices;
import dev.holdfast.worker.attempt.Watchdog;
import dev.holdfast.worker.claim.Claimer;
import dev.holdfast.worker.claim.Slots;
import dev.holdfast.worker.handler.Kind;
import dev.holdfast.worker.handler.Threads;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The attempts of one worker: each gets a slot and a thread, is watched while it runs, and gives
 * both back when it has ended.
 */
final class WorkerAttempts implements AttemptListener, Claimer.Starter {
  private static final Logger log = LoggerFactory.getLogger(WorkerAttempts.class);

  /** Another job may be claimed. */
  interface SlotFreed {
    /**
     * @param settled whether the job that left its slot is settled as well
     */
    void freed(boolean settled);
  }

  private final AttemptServices services;
  private final Map<String, Kind<?>> kinds;
  private final Slots slots;
  private final Watchdog watchdog;
  private final AttemptLog attemptLog;
  private final SlotFreed slotFreed;
  private final HandlerThreads threads;
  private final OverdueHandlers overdue = new OverdueHandlers();
  private final Cleaner cleaner = new Cleaner();

  /**
   * @param slotFreed called twice for each attempt
   */
  WorkerAttempts(
      AttemptServices services,
      Map<String, Kind<?>> kinds,
      Slots slots,
      Watchdog watchdog,
      AttemptLog attemptLog,
      SlotFreed slotFreed) {
    this.services = services;
    this.kinds = kinds;
    this.slots = slots;
    this.watchdog = watchdog;
    this.attemptLog = attemptLog;
    this.slotFreed = slotFreed;
    this.threads = new HandlerThreads(services.options().concurrency());
  }

  OverdueHandlers overdueHandlers() {
    return overdue;
  }

  @Override
  public Set<Lease> overdue() {
    return overdue.leases();
  }

  @Override
  public boolean start(LeasedJob job, long claimedAt) {
    Kind<?> kind = kinds.get(job.kind());
    AttemptExecutor attempt = new AttemptExecutor(job, kind, claimedAt, services, this);
    if (!slots.add(attempt)) {
      return false;
    }
    services.metrics().time(Metrics.QUEUE_WAIT, job.queueWait());
    try {
      threads.start(
          kind == null ? Threads.AUTO : kind.threads(),
          "job-" + job.lease(),
          () -> AttemptMdc.run(job, () -> run(attempt)));
    } catch (Throwable noThread) {
      slots.remove(attempt);
      throw noThread;
    }
    return true;
  }

  private void run(AttemptExecutor attempt) {
    try {
      if (attempt.hasLostLease() || hasLostLeaseBeforeStart(attempt)) {
        skip(attempt);
      } else if (!attempt.isEnded()) {
        attemptLog.started(attempt);
        attempt.run();
      }
    } catch (Throwable e) {
      // No attempt may stay in its slot, heartbeat after heartbeat, while nothing runs for it.
      log.error("{} {} could not be run", attempt.job().kind(), attempt.lease(), e);
      attempt.broken(e);
    } finally {
      overdue.forget(attempt);
    }
  }

  /** A process that was frozen between claim and start must check its lease before it begins. */
  private boolean hasLostLeaseBeforeStart(AttemptExecutor attempt) {
    Duration lease = services.options().timings().lease();
    if (System.nanoTime() - attempt.leaseFrom() < lease.toNanos()) {
      return false;
    }
    long askedAt = System.nanoTime();
    List<HeartbeatResult> results =
        services.source().ask(it -> it.heartbeat(List.of(attempt.lease()), lease));
    if (results.stream().anyMatch(result -> result.ack() == Ack.LEASE_LOST)) {
      return true;
    }
    attempt.extended(askedAt);
    return false;
  }

  private void skip(AttemptExecutor attempt) {
    attemptLog.skipped(attempt);
    if (attempt.skip()) {
      free(attempt);
    }
  }

  // ---- how far an attempt is

  @Override
  public void beginning(AttemptExecutor attempt) {
    watchdog.watch(attempt);
  }

  @Override
  public void performed(AttemptExecutor attempt, Duration took) {
    services.metrics().time(Metrics.RUN_TIME, took);
    slots.ending(attempt);
    slotFreed.freed(false);
  }

  @Override
  public void stopping(AttemptExecutor attempt) {
    watchdog.giveGrace(attempt);
  }

  @Override
  public void ended(AttemptExecutor attempt, @Nullable Settlement settlement, Ack ack) {
    // Counted before the slot is free: after a wait for the last job the metrics have it.
    attemptLog.count(attempt, settlement, ack);
    overdue.note(attempt);
    free(attempt);
    cleaner.clean(attempt.files(), settlement, ack);
    attemptLog.ended(attempt, settlement, ack);
  }

  private void free(AttemptExecutor attempt) {
    watchdog.forget(attempt);
    slots.remove(attempt);
    slotFreed.freed(true);
  }

  // ---- the end

  void closeThreads() {
    threads.close();
  }

  void closeCleaner(Duration timeout) {
    cleaner.close(timeout);
  }
}
