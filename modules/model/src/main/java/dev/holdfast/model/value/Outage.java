package dev.holdfast.model.value;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Tells the first of many callers that a service is unavailable, and the first that reaches it
 * again, so that each change is logged once. A call counts only if it was started after the last
 * change: an earlier call says nothing about the present.
 *
 * <p>Not part of the API: for the modules of Holdfast, and may change in any release.
 */
public final class Outage {
  /** An unstable service is logged no more often than this. */
  private static final Duration RESPITE = Duration.ofSeconds(10);

  private final LongSupplier nanos;
  private volatile boolean unavailable;
  private boolean ended;
  private long changedAt;

  public Outage(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** A call failed; true if that is to be logged. */
  public synchronized boolean begins(long callBegan) {
    long now = nanos.getAsLong();
    if (unavailable
        || (ended && (callBegan - changedAt < 0 || now - changedAt < RESPITE.toNanos()))) {
      return false;
    }
    unavailable = true;
    changedAt = now;
    return true;
  }

  /** A call was answered; how long the outage lasted, if that is to be logged. */
  public Optional<Duration> ends(long callBegan) {
    return unavailable ? ended(callBegan) : Optional.empty();
  }

  private synchronized Optional<Duration> ended(long callBegan) {
    if (!unavailable || callBegan - changedAt < 0) {
      return Optional.empty();
    }
    long now = nanos.getAsLong();
    Duration took = Duration.ofNanos(now - changedAt);
    unavailable = false;
    ended = true;
    changedAt = now;
    return Optional.of(took);
  }
}
