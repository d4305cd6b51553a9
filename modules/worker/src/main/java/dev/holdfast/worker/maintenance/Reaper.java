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
 * <p>After an outage it waits for a whole lease before it judges anyone: the others could not be
 * heard either, and a mass requeue would run everything twice.
 */
public final class Reaper {
  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private final JobSource source;
  private final Timings timings;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private boolean away;
  private boolean waiting;
  private long judgeFrom;

  public Reaper(JobSource source, Timings timings, Metrics metrics, LongSupplier nanos) {
    this.source = source;
    this.timings = timings;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  /** Judges nobody before a whole lease has passed. */
  Reaper waitingFirst() {
    waiting = true;
    judgeFrom = nanos.getAsLong() + patience().toNanos();
    return this;
  }

  private Duration patience() {
    return timings.lease().plus(timings.reapGrace());
  }

  public Duration runOnce() {
    try {
      // Asked first and apart: a source that was away may answer late instead of failing, and the
      // same call must not then go on to judge.
      sweep(false);
      if (mayJudge()) {
        sweep(true).forEach(this::tell);
      }
    } catch (SourceBusyException busy) {
      away = true;
      log.warn("sweep: {} (trying again)", busy.getMessage());
    } catch (SourceUnavailableException trouble) {
      away = true;
      log.debug("sweep failed, trying again: {}", trouble.getMessage());
    } catch (RuntimeException trouble) {
      away = true;
      log.error("sweep failed, trying again", trouble);
    }
    sumUpHistory();
    return deleteOldJobs() ? Duration.ZERO : Loop.jittered(timings.sweep());
  }

  /** Before jobs are deleted, and apart from the sweep for the same reasons as that. */
  private void sumUpHistory() {
    try {
      source.sumUpHistory();
    } catch (RuntimeException trouble) {
      log.debug("the history could not be summed up, trying again: {}", trouble.getMessage());
    }
  }

  /** Apart from the sweep, whose time is measured, and whose failure means an outage. */
  private boolean deleteOldJobs() {
    try {
      return source.deleteOldJobs();
    } catch (RuntimeException trouble) {
      log.debug("old jobs could not be deleted, trying again: {}", trouble.getMessage());
      return false;
    }
  }

  private Map<String, Integer> sweep(boolean judge) {
    long asked = nanos.getAsLong();
    Map<String, Integer> recovered = source.sweep(timings, judge);
    if (nanos.getAsLong() - asked > timings.heartbeat().toNanos()) {
      away = true; // For that long nobody else's heartbeat was heard either.
    }
    return recovered;
  }

  private boolean mayJudge() {
    long now = nanos.getAsLong();
    if (away) {
      Duration wait = patience();
      away = false;
      waiting = true;
      judgeFrom = now + wait.toNanos();
      log.info("the source is back: no lease is judged for {} s", wait.toMillis() / 1000.0);
    } else if (waiting && now - judgeFrom >= 0) {
      waiting = false;
    }
    return !waiting;
  }

  private void tell(String reason, int jobs) {
    if (jobs > 0) {
      metrics.count(Metrics.RECOVERED, "reason", reason, jobs);
      log.info("recovered {} ({})", Plural.of(jobs, "job"), reason);
    }
  }
}
