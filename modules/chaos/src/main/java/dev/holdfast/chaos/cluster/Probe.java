package dev.holdfast.chaos.cluster;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.load.ChaosKinds;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.model.job.Job;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** A client that enqueues one job after the other and notes how long it got no answer. */
public final class Probe implements AutoCloseable {
  /** A time without an acknowledged enqueue. */
  record Gap(Instant from, Instant until) {
    Duration length() {
      return Duration.between(from, until);
    }
  }

  private static final int BETWEEN_MS = 50;

  private final Holdfast holdfast;
  private final Ledger ledger;
  private final Thread thread = Thread.ofPlatform().daemon().name("probe").unstarted(this::run);
  private volatile boolean stopped;
  private Instant last = Instant.now();
  private Gap longest = new Gap(last, last);
  private long acknowledged;

  public Probe(Holdfast holdfast, Ledger ledger) {
    this.holdfast = holdfast;
    this.ledger = ledger;
  }

  public Probe start() {
    thread.start();
    return this;
  }

  private void run() {
    while (!stopped) {
      Job job = Job.of("plain", new ChaosKinds.Work(1, 0)).maxCrashes(1_000);
      while (!enqueued(job)) {
        pause();
      }
      pause();
    }
  }

  private boolean enqueued(Job job) {
    try {
      holdfast.enqueue(job);
    } catch (RuntimeException unanswered) {
      return false;
    }
    ledger.acknowledged(job);
    answered(Instant.now());
    return true;
  }

  private synchronized void answered(Instant now) {
    Gap gap = new Gap(last, now);
    if (gap.length().compareTo(longest.length()) > 0) {
      longest = gap;
    }
    last = now;
    acknowledged++;
    notifyAll();
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(BETWEEN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Forgets the gaps so far. */
  synchronized void begin() {
    longest = new Gap(last, last);
  }

  /** Waits for two more answers: the gap that goes on now, if one does, has then ended. */
  synchronized void awaitAcknowledged() throws InterruptedException {
    long enough = acknowledged + 2;
    while (acknowledged < enough) {
      wait();
    }
  }

  synchronized Gap longestGap() {
    return longest;
  }

  /** Waits until the last job is acknowledged. */
  @Override
  public void close() {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
