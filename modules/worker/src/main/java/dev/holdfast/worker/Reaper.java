package dev.holdfast.worker;

import dev.holdfast.model.Timings;
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
final class Reaper {
  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private final JobSource source;
  private final Timings timings;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private boolean away;
  private boolean waiting;
  private long judgeFrom;

  Reaper(JobSource source, Timings timings, Metrics metrics, LongSupplier nanos) {
    this.source = source;
    this.timings = timings;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  Duration runOnce() {
    long now = nanos.getAsLong();
    boolean judge = !away && (!waiting || now - judgeFrom >= 0);
    try {
      Map<String, Integer> recovered = source.sweep(timings, judge);
      recovered.forEach(this::tell);
    } catch (RuntimeException trouble) {
      away = true;
      log.info("sweep failed, trying again: {}", trouble.getMessage());
      return Loop.jittered(timings.sweep());
    }
    if (away) {
      away = false;
      waiting = true;
      judgeFrom = now + timings.lease().plus(timings.reapGrace()).toNanos();
      log.info("the source is back: no lease is judged for {} s", timings.lease().toSeconds());
    } else if (judge) {
      waiting = false;
    }
    return Loop.jittered(timings.sweep());
  }

  private void tell(String reason, int jobs) {
    if (jobs > 0) {
      metrics.count(Metrics.RECOVERED, "reason", reason, jobs);
      log.info("recovered {} jobs ({})", jobs, reason);
    }
  }
}
