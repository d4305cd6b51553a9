package dev.holdfast.chaos.cluster;

import java.time.Duration;
import java.time.Instant;

/** When a client got its enqueues acknowledged, and when it did not. */
final class Acknowledgements {
  /**
   * A time in which enqueues were not acknowledged, or only now and then: a new primary may accept
   * a few before Patroni makes it wait for its standby.
   */
  record Outage(Instant from, Instant until) {
    Duration length() {
      return Duration.between(from, until);
    }
  }

  private static final Duration SILENCE = Duration.ofSeconds(1);

  private Instant last;
  private Outage outage;
  private long count;

  Acknowledgements(Instant now) {
    this.last = now;
    this.outage = new Outage(now, now);
  }

  synchronized void add(Instant now) {
    if (Duration.between(last, now).compareTo(SILENCE) >= 0) {
      outage = new Outage(outage.length().isZero() ? last : outage.from(), now);
    }
    last = now;
    count++;
    notifyAll();
  }

  /** Forgets the outages so far. */
  synchronized void begin() {
    outage = new Outage(last, last);
  }

  /** From the begin of the first silence to the end of the last one. */
  synchronized Outage outage() {
    return outage;
  }

  /** Waits for two more: a silence that goes on now has then ended. */
  synchronized void await() throws InterruptedException {
    long enough = count + 2;
    while (count < enough) {
      wait();
    }
  }
}
