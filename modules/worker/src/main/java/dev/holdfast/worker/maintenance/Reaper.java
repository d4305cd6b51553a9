package dev.holdfast.worker.maintenance;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.model.value.Plural;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sweeps the queue: makes jobs due, takes back lost leases, ends what is out of time.
 *
 * <p>After an outage it reaps no lease for as long as a lease lasts: other workers could not extend
 * theirs during the outage either, and a mass requeue would run all their jobs twice.
 */
public final class Reaper {
  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  /** What it asks of the queue. */
  public interface Verbs {
    /** Makes jobs claimable whose time has come. */
    void promote();

    /** Reaps expired leases and ends jobs that are out of time; how many, by reason. */
    Map<String, Integer> reapAndExpire(Duration grace);

    /** Of these, only attempts that were asked to cancel less than {@code age} ago. */
    Map<String, Integer> expireCancelled(Duration age);
  }

  private final Verbs queue;
  private final Timings timings;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private boolean unavailable;
  private boolean waiting;
  private long waitingSince;
  private long reapFrom;

  public Reaper(Verbs queue, Timings timings, Metrics metrics, LongSupplier nanos) {
    this.queue = queue;
    this.timings = timings;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  /**
   * Reaps no lease before a whole lease has passed: workers that send heartbeats through the
   * process that opened this could not do so before.
   */
  public Reaper waitingFirst() {
    waiting = true;
    waitingSince = nanos.getAsLong();
    reapFrom = waitingSince + waitAfterOutage().toNanos();
    return this;
  }

  private Duration waitAfterOutage() {
    return timings.lease().plus(timings.reapGrace());
  }

  /** One sweep; the answer is how long until the next. */
  public Duration runOnce() {
    try {
      sweep();
    } catch (RuntimeException e) {
      unavailable = true;
      throw e;
    }
    return Loop.jittered(timings.sweep());
  }

  private void sweep() {
    // A call of its own, and the first: a queue that was unavailable may answer late instead of
    // failing, and the same call must not then reap.
    timed(queue::promote);
    if (mayReap()) {
      timed(() -> queue.reapAndExpire(timings.reapGrace()).forEach(this::report));
    } else {
      // The grace period of a cancel that was requested since then is not lengthened: its worker
      // can be told, and can answer.
      queue
          .expireCancelled(Duration.ofNanos(nanos.getAsLong() - waitingSince))
          .forEach(this::report);
    }
  }

  /** While a call takes longer than a heartbeat, no worker can extend its leases. */
  private void timed(Runnable verb) {
    long asked = nanos.getAsLong();
    verb.run();
    unavailable |= nanos.getAsLong() - asked > timings.heartbeat().toNanos();
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
