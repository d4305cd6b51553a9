package dev.holdfast.model.attempt;

import dev.holdfast.model.value.Refusal;
import dev.holdfast.model.value.RefusedException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;

/**
 * How often workers send heartbeats, and how long leases last without them.
 *
 * @param heartbeat how often a worker extends the leases it holds
 * @param lease how long a lease lasts without a heartbeat
 * @param reapGrace how long the reaper waits after a lease has expired
 * @param cancelGrace how long a handler may take to stop once cancelled
 */
public record Timings(
    Duration heartbeat, Duration lease, Duration reapGrace, Duration cancelGrace) {
  public static final Duration DEFAULT_HEARTBEAT = Duration.ofSeconds(10);
  public static final Duration DEFAULT_CANCEL_GRACE = Duration.ofSeconds(30);

  /** A heartbeat of ten seconds and a lease of thirty. */
  public static final Timings DEFAULT = every(DEFAULT_HEARTBEAT);

  private static final Map<String, Timings> PRESETS =
      Map.of(
          "development", preset(10, 60),
          "production", preset(30, 300),
          "high-reliability", preset(15, 180));

  public Timings {
    positive("HEARTBEAT_INTERVAL_SEC", heartbeat);
    positive("LEASE_TIMEOUT_SEC", lease);
    positive("CANCEL_GRACE_SEC", cancelGrace);
    if (reapGrace.isNegative() || reapGrace.toDays() > 365) {
      throw refuse(
          "HOLDFAST_TIMINGS_REAP_GRACE is %s: it must be zero or more, and a year at most"
              .formatted(seconds(reapGrace)));
    }
    // One lost heartbeat must not cost the lease.
    if (lease.compareTo(heartbeat.plus(heartbeat)) < 0) {
      throw refuse(
          "LEASE_TIMEOUT_SEC is %s: it must be at least twice HEARTBEAT_INTERVAL_SEC (%s)"
              .formatted(seconds(lease), seconds(heartbeat)));
    }
  }

  /** Timings with the given heartbeat and otherwise default values. */
  public static Timings every(Duration heartbeat) {
    return new Timings(heartbeat, leaseFor(heartbeat), Duration.ZERO, DEFAULT_CANCEL_GRACE);
  }

  /** Three heartbeats. A product would need BigDecimal, which takes a process 20 ms to set up. */
  public static Duration leaseFor(Duration heartbeat) {
    return heartbeat.plus(heartbeat).plus(heartbeat);
  }

  /** By name: development, production or high-reliability. */
  public static Timings preset(String name) {
    Timings preset = PRESETS.get(name.toLowerCase(Locale.ROOT));
    if (preset == null) {
      throw refuse(
          "timing preset '%s' is unknown: choose development, production or high-reliability"
              .formatted(name));
    }
    return preset;
  }

  /** How often the reaper runs. */
  public Duration sweep() {
    return Duration.ofNanos(heartbeat.toNanos() / 2);
  }

  /** How long a job is held without a heartbeat. */
  public Timings withLease(Duration value) {
    return new Timings(heartbeat, value, reapGrace, cancelGrace);
  }

  /** How long after its end a lease is still left alone. */
  public Timings withReapGrace(Duration value) {
    return new Timings(heartbeat, lease, value, cancelGrace);
  }

  /** How long a cancelled job may take to stop. */
  public Timings withCancelGrace(Duration value) {
    return new Timings(heartbeat, lease, reapGrace, value);
  }

  private static Timings preset(int heartbeat, int lease) {
    return every(Duration.ofSeconds(heartbeat)).withLease(Duration.ofSeconds(lease));
  }

  private static void positive(String setting, Duration value) {
    if (value.toDays() > 365 || value.compareTo(Duration.ofMillis(1)) < 0) {
      throw refuse(
          "%s is %s: it must be at least 0.001 s, and a year at most"
              .formatted(setting, seconds(value)));
    }
  }

  private static String seconds(Duration value) {
    return value.getSeconds() + value.getNano() / 1e9 + " s";
  }

  private static RefusedException refuse(String message) {
    return new RefusedException(Refusal.BAD_TIMING, message);
  }
}
