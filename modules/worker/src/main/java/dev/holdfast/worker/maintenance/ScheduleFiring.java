package dev.holdfast.worker.maintenance;

import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires schedules after each sweep, and between sweeps when one comes due: a schedule of every
 * second would otherwise fire as rarely as the sweep runs.
 */
public final class ScheduleFiring {
  private static final Logger log = LoggerFactory.getLogger(ScheduleFiring.class);

  /** All workers know when the next schedule is due; the first of them to look fires it. */
  private static final int SPREAD_MILLIS = 50;

  private final JobSource source;
  private final Loop.Work sweep;
  private final LongSupplier nanos;
  private boolean swept;
  private long sweepAt;

  /**
   * @param sweep what runs at its own interval
   */
  public ScheduleFiring(JobSource source, Loop.Work sweep, LongSupplier nanos) {
    this.source = source;
    this.sweep = sweep;
    this.nanos = nanos;
  }

  public Duration runOnce() {
    if (!swept || nanos.getAsLong() - sweepAt >= 0) {
      Duration wait = sweep.runOnce();
      sweepAt = nanos.getAsLong() + wait.toNanos();
      swept = true;
    }
    Duration due = untilDue();
    Duration left = Duration.ofNanos(Math.max(0, sweepAt - nanos.getAsLong()));
    return due.compareTo(left) < 0 ? due : left;
  }

  /** Where the source cannot be asked, the sweep has said so, and the next one tries again. */
  private Duration untilDue() {
    try {
      return source
          .fireSchedules()
          .map(wait -> wait.plusMillis(ThreadLocalRandom.current().nextInt(SPREAD_MILLIS)))
          .orElse(Loop.LONGEST_WAIT);
    } catch (RuntimeException e) {
      log.debug("schedules could not be fired, trying again: {}", e.getMessage());
      return Loop.LONGEST_WAIT;
    }
  }
}
