package dev.holdfast.worker;

import dev.holdfast.model.Ack;
import dev.holdfast.model.Lease;
import dev.holdfast.model.Pulse;
import dev.holdfast.model.Timings;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all leases of a worker alive, in one statement per heartbeat, and tells handlers that were
 * cancelled or have lost theirs. Runs on threads of its own: handlers cannot starve it.
 */
final class LeaseKeeper implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final int TOLERATED = 3;
  static final Duration CANCEL_POLL = Duration.ofMillis(500);

  private final JobSource source;
  private final Slots slots;
  private final Timings timings;
  private final String worker;
  private final Metrics metrics;
  private final Loop heartbeats = new Loop("heartbeat", this::beat);
  private final Loop cancels = new Loop("cancel", this::askForCancels);
  private int failedInARow;

  LeaseKeeper(JobSource source, Slots slots, Timings timings, String worker, Metrics metrics) {
    this.source = source;
    this.slots = slots;
    this.timings = timings;
    this.worker = worker;
    this.metrics = metrics;
  }

  void start() {
    heartbeats.start();
    cancels.start();
  }

  Duration beat() {
    Collection<JobRun> runs = slots.all();
    if (runs.isEmpty()) {
      return timings.heartbeat();
    }
    long sentAt = System.nanoTime();
    try {
      List<Lease> leases = runs.stream().map(JobRun::lease).toList();
      tell(runs, source.heartbeat(leases, timings.lease()), sentAt);
      metrics.count(Metrics.HEARTBEATS, leases.size());
      log.debug("heartbeat of {} jobs", leases.size());
      wellAgain();
      return timings.heartbeat();
    } catch (RuntimeException trouble) {
      failed(trouble);
      // Sooner than a whole interval: there is a lease to be saved.
      return Loop.jittered(timings.heartbeat().dividedBy(4));
    }
  }

  private void failed(RuntimeException trouble) {
    failedInARow++;
    if (failedInARow == TOLERATED + 1) {
      log.warn(
          "HEARTBEAT_DEGRADED: {} heartbeats in a row failed for {} jobs; they go on running ({})",
          failedInARow,
          slots.used(),
          trouble.getMessage());
    } else {
      log.info("heartbeat failed: {}", trouble.getMessage());
    }
  }

  private void wellAgain() {
    if (failedInARow > TOLERATED) {
      log.info("HEARTBEAT_RECOVERED: heartbeats work again after {} failures", failedInARow);
    }
    failedInARow = 0;
  }

  private void tell(Collection<JobRun> runs, List<Pulse> pulses, long sentAt) {
    Map<Lease, JobRun> byLease =
        runs.stream().collect(Collectors.toMap(JobRun::lease, Function.identity()));
    for (Pulse pulse : pulses) {
      JobRun run = byLease.get(pulse.lease());
      if (run == null) {
        continue;
      }
      if (pulse.ack() == Ack.LEASE_LOST) {
        // An attempt whose ending is being written no longer holds a lease, and did not lose it.
        if (!run.isEnded()) {
          run.stop(new StopReason.LeaseLost());
        }
      } else {
        run.extended(sentAt);
        stopIfCancelled(run, pulse);
      }
    }
  }

  private static void stopIfCancelled(JobRun run, Pulse pulse) {
    String reason = pulse.cancelReason();
    if (reason != null && !run.isEnded()) {
      run.stop(new StopReason.Cancelled(reason));
    }
  }

  /** Between heartbeats, so that a cancellation arrives within a second with or without NOTIFY. */
  Duration askForCancels() {
    Collection<JobRun> runs = slots.all();
    if (!runs.isEmpty()) {
      Map<Lease, JobRun> byLease =
          runs.stream().collect(Collectors.toMap(JobRun::lease, Function.identity()));
      for (Pulse pulse : source.cancelling(worker)) {
        JobRun run = byLease.get(pulse.lease());
        if (run != null) {
          stopIfCancelled(run, pulse);
        }
      }
    }
    return CANCEL_POLL;
  }

  @Override
  public void close() {
    cancels.close();
    heartbeats.close();
  }
}
