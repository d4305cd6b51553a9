package dev.holdfast.worker.config;

import dev.holdfast.model.value.Plural;
import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops claiming for a while when much is waiting and this machine is busy already. */
public final class Backpressure {
  private static final Logger log = LoggerFactory.getLogger(Backpressure.class);

  /**
   * @param highWatermark due jobs in the worker's queues above which it may pause; null for never
   * @param loadThreshold CPU load above which it may pause, from 0 to 1
   */
  public record Settings(
      @Nullable Long highWatermark, double loadThreshold, Duration pause, LoadSource load) {
    public static final Settings OFF =
        new Settings(null, 0.8, Duration.ofSeconds(5), LoadSource.ofThisMachine());

    public Settings {
      if (highWatermark != null && highWatermark < 0) {
        throw refuse("HIGH_WATERMARK is " + highWatermark + ": it must be zero or more");
      }
      if (!(loadThreshold >= 0 && loadThreshold <= 1)) {
        throw refuse(
            "LOAD_THRESHOLD is " + loadThreshold + ": it must be between 0 (idle) and 1 (busy)");
      }
      if (pause.isNegative() || pause.isZero()) {
        throw refuse("PAUSE_INTERVAL_SEC must be positive");
      }
    }

    private static RefusedException refuse(String message) {
      return new RefusedException(Refusal.BAD_LIMIT, message);
    }
  }

  private final Settings settings;
  private final JobSource source;
  private final List<String> queues;
  private final Metrics metrics;
  private final LongSupplier nanos;
  private boolean pausing;
  private long until;

  public Backpressure(
      Settings settings,
      JobSource source,
      List<String> queues,
      Metrics metrics,
      LongSupplier nanos) {
    this.settings = settings;
    this.source = source;
    this.queues = queues;
    this.metrics = metrics;
    this.nanos = nanos;
  }

  /** How long not to claim; zero when there is no reason to hold back. */
  public Duration pause() {
    Long watermark = settings.highWatermark();
    if (watermark == null) {
      return Duration.ZERO;
    }
    long now = nanos.getAsLong();
    if (pausing && until - now > 0) {
      return Duration.ofNanos(until - now);
    }
    // The load is cheap to ask for, the depth is a query.
    pausing =
        settings.load().load() > settings.loadThreshold()
            && source.depth(queues, watermark + 1) > watermark;
    if (!pausing) {
      return Duration.ZERO;
    }
    until = now + settings.pause().toNanos();
    metrics.count(Metrics.PAUSES, 1);
    log.info(
        "more than {} waiting and the machine is busy: no new ones for {} s",
        Plural.of(watermark, "job"),
        settings.pause().toMillis() / 1000.0);
    return settings.pause();
  }
}
