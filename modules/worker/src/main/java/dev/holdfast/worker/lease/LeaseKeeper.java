package dev.holdfast.worker.lease;

import dev.holdfast.model.attempt.Ack;
import dev.holdfast.model.attempt.HeartbeatResult;
import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.command.PendingCommand;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.attempt.AttemptExecutor;
import dev.holdfast.worker.attempt.Slots;
import dev.holdfast.worker.attempt.StopReason;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all leases of a worker alive, in one statement per heartbeat, and tells handlers that were
 * cancelled or have lost theirs. Runs on threads of its own: handlers cannot starve it.
 */
public final class LeaseKeeper {
  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final int TOLERATED = 3;
  static final Duration CANCEL_POLL = Duration.ofMillis(500);

  private final JobSource source;
  private final Slots slots;
  private final Timings timings;
  private final String worker;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private final Loop heartbeats = new Loop("heartbeat", this::beat);
  private final Loop cancels = new Loop("cancel", this::pollCommands);
  private boolean connected;
  private volatile long failedInARow;
  private boolean degraded;

  public LeaseKeeper(
      JobSource source,
      Slots slots,
      Timings timings,
      String worker,
      Metrics metrics,
      LongSupplier nanos) {
    this.source = source;
    this.slots = slots;
    this.timings = timings;
    this.worker = worker;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  public void start() {
    heartbeats.start();
    cancels.start();
  }

  /**
   * Called before the first claim, so that the heartbeats have their connection before handlers can
   * have taken every other.
   */
  public void connect() {
    if (!connected) {
      source.commands(worker);
      connected = true;
    }
  }

  Duration beat() {
    Collection<AttemptExecutor> attempts = slots.all();
    if (attempts.isEmpty() && failedInARow == 0) {
      return timings.heartbeat();
    }
    long sentAt = nanos.getAsLong();
    try {
      if (attempts.isEmpty()) {
        // No lease to extend: this only finds out whether the source is available again.
        source.commands(worker);
      } else {
        List<Lease> leases = attempts.stream().map(AttemptExecutor::lease).toList();
        apply(attempts, source.heartbeat(leases, timings.lease()), sentAt);
        metrics.count(Metrics.HEARTBEATS, attempts.size());
        log.debug("heartbeat of {}", Plural.of(attempts.size(), "job"));
      }
      recovered();
      return timings.heartbeat();
    } catch (RuntimeException e) {
      failed(e, nanos.getAsLong() - sentAt);
      // Sooner than after a whole interval: leases expire meanwhile.
      return Loop.jittered(timings.heartbeat().dividedBy(4));
    }
  }

  private void failed(RuntimeException error, long took) {
    // A heartbeat that took as long as several intervals counts as several failures.
    long failures = failedInARow + Math.max(1, took / timings.heartbeat().toNanos());
    failedInARow = failures;
    if (failures > TOLERATED && !degraded) {
      degraded = true;
      log.warn(
          "HEARTBEAT_DEGRADED: {} in a row failed for {}; running jobs continue ({})",
          Plural.of(failures, "heartbeat"),
          Plural.of(slots.used(), "job"),
          error.getMessage());
    } else if (error instanceof SourceUnavailableException) {
      log.debug("heartbeat failed: {}", error.getMessage());
    } else {
      log.error("heartbeat failed", error);
    }
  }

  private void recovered() {
    if (degraded) {
      degraded = false;
      log.info(
          "HEARTBEAT_RECOVERED: heartbeats work again after {}",
          Plural.of(failedInARow, "failure"));
    }
    failedInARow = 0;
  }

  private static void apply(
      Collection<AttemptExecutor> attempts, List<HeartbeatResult> results, long sentAt) {
    Map<Lease, AttemptExecutor> byLease = byLease(attempts);
    for (HeartbeatResult result : results) {
      AttemptExecutor attempt = byLease.get(result.lease());
      if (attempt == null) {
        continue;
      }
      if (result.ack() == Ack.LEASE_LOST) {
        attempt.lost();
      } else {
        attempt.extended(sentAt);
        attempt.onCommand(result.pendingCommand());
        stopIfCancelled(attempt, result);
      }
    }
  }

  private static void stopIfCancelled(AttemptExecutor attempt, HeartbeatResult result) {
    String reason = result.cancelReason();
    if (reason != null) {
      attempt.stop(new StopReason.Cancelled(reason));
    }
  }

  /** Between heartbeats, so that commands arrive within a second with or without NOTIFY. */
  Duration pollCommands() {
    Collection<AttemptExecutor> attempts = slots.all();
    // While heartbeats fail the connection is left to them; they bring cancellations as well.
    if (!attempts.isEmpty() && failedInARow == 0) {
      Map<Lease, AttemptExecutor> byLease = byLease(attempts);
      for (HeartbeatResult result : source.commands(worker)) {
        AttemptExecutor attempt = byLease.remove(result.lease());
        if (attempt != null) {
          attempt.onCommand(result.pendingCommand());
          stopIfCancelled(attempt, result);
        }
      }
      // The others have no pending command, or have it no longer.
      byLease.values().forEach(attempt -> attempt.onCommand(PendingCommand.NONE));
    }
    return CANCEL_POLL;
  }

  private static Map<Lease, AttemptExecutor> byLease(Collection<AttemptExecutor> attempts) {
    return attempts.stream()
        .collect(
            Collectors.toMap(
                AttemptExecutor::lease, Function.identity(), (one, same) -> one, HashMap::new));
  }

  public void end() {
    cancels.end();
    heartbeats.end();
  }

  public boolean awaitEnd(Duration atMost) throws InterruptedException {
    return heartbeats.awaitEnd(atMost) && cancels.awaitEnd(atMost);
  }
}
