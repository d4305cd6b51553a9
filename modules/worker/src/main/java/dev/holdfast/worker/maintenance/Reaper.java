package dev.holdfast.worker.maintenance;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.SourceBusyException;
import dev.holdfast.worker.source.SourceUnavailableException;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps the queue: any number of workers do it at once.
 *
 * <p>After an outage it reaps no lease for as long as a lease lasts: other workers could not extend
 * theirs during the outage either, and a mass requeue would run all their jobs twice.
 */
public final class Reaper {
  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private final JobSource source;
  private final Timings timings;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private boolean unavailable;
  private boolean waiting;
  private long waitingSince;
  private long reapFrom;

  public Reaper(JobSource source, Timings timings, Metrics metrics, LongSupplier nanos) {
    this.source = source;
    this.timings = timings;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  /** Reaps no lease before a whole lease has passed. */
  Reaper waitingFirst() {
    waiting = true;
    waitingSince = nanos.getAsLong();
    reapFrom = waitingSince + waitAfterOutage().toNanos();
    return this;
  }

  private Duration waitAfterOutage() {
    return timings.lease().plus(timings.reapGrace());
  }

  public Duration runOnce() {
    try {
      // A call of its own, and the first: a source that was unavailable may answer late instead of
      // failing, and the same call must not then reap.
      sweep(false);
      if (mayReap()) {
        sweep(true).forEach(this::report);
      } else {
        // The grace period of a cancel that was requested since then is not lengthened: its worker
        // can be told, and can answer.
        source
            .endCancelled(Duration.ofNanos(nanos.getAsLong() - waitingSince))
            .forEach(this::report);
      }
    } catch (SourceBusyException busy) {
      unavailable = true;
      log.warn("sweep: {} (trying again)", busy.getMessage());
    } catch (SourceUnavailableException e) {
      unavailable = true;
      log.debug("sweep failed, trying again: {}", e.getMessage());
    } catch (RuntimeException e) {
      unavailable = true;
      log.error("sweep failed, trying again", e);
    }
    sumUpHistory();
    return deleteOldJobs() ? Duration.ZERO : Loop.jittered(timings.sweep());
  }

  /** Before jobs are deleted, and apart from the sweep for the same reasons as that. */
  private void sumUpHistory() {
    try {
      source.sumUpHistory();
    } catch (RuntimeException e) {
      log.debug("the history could not be summed up, trying again: {}", e.getMessage());
    }
  }

  /** Apart from the sweep, whose time is measured, and whose failure means an outage. */
  private boolean deleteOldJobs() {
    try {
      return source.deleteOldJobs();
    } catch (RuntimeException e) {
      log.debug("old jobs could not be deleted, trying again: {}", e.getMessage());
      return false;
    }
  }

  private Map<String, Integer> sweep(boolean reapLeases) {
    long asked = nanos.getAsLong();
    Map<String, Integer> recovered = source.sweep(timings, reapLeases);
    if (nanos.getAsLong() - asked > timings.heartbeat().toNanos()) {
      unavailable = true; // For that long no worker could extend its leases.
    }
    return recovered;
  }

  private boolean mayReap() {
    long now = nanos.getAsLong();
    if (unavailable) {
      Duration wait = waitAfterOutage();
      unavailable = false;
      waiting = true;
      waitingSince = now;
      reapFrom = now + wait.toNanos();
      log.info("leases are not reaped for {} s after the outage", wait.toMillis() / 1000.0);
    } else if (waiting && now - reapFrom >= 0) {
      waiting = false;
    }
    return !waiting;
  }

  private void report(String reason, int jobs) {
    if (jobs > 0) {
      metrics.count(Metrics.RECOVERED, "reason", reason, jobs);
      log.info("recovered {} ({})", Plural.of(jobs, "job"), reason);
    }
  }
}
