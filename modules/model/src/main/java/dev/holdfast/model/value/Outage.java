package dev.holdfast.model.value;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Tells the first of many callers that what they all call is away, and the first that finds it
 * back, so that each is logged once. A call counts only if it began after the last change: one that
 * was under way before says nothing about now.
 */
public final class Outage {
  /** A service that comes and goes is told no more often than this. */
  private static final Duration RESPITE = Duration.ofSeconds(10);

  private final LongSupplier nanos;
  private volatile boolean away;
  private boolean ended;
  private long changedAt;

  public Outage(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /** A call failed; true if that is to be told. */
  public synchronized boolean begins(long callBegan) {
    long now = nanos.getAsLong();
    if (away || (ended && (callBegan - changedAt < 0 || now - changedAt < RESPITE.toNanos()))) {
      return false;
    }
    away = true;
    changedAt = now;
    return true;
  }

  /** A call was answered; how long nobody was, if that is to be told. */
  public Optional<Duration> ends(long callBegan) {
    return away ? ended(callBegan) : Optional.empty();
  }

  private synchronized Optional<Duration> ended(long callBegan) {
    if (!away || callBegan - changedAt < 0) {
      return Optional.empty();
    }
    long now = nanos.getAsLong();
    Duration took = Duration.ofNanos(now - changedAt);
    away = false;
    ended = true;
    changedAt = now;
    return Optional.of(took);
  }
}
