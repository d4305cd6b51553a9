package dev.holdfast.chaos.cluster;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.load.ChaosKinds;
import dev.holdfast.chaos.load.Ledger;
import dev.holdfast.model.job.Job;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** A client that enqueues one job after the other and notes when each was acknowledged. */
public final class Probe implements AutoCloseable {
  private static final int BETWEEN_MS = 50;

  private final Holdfast holdfast;
  private final Ledger ledger;
  private final Acknowledgements acknowledgements = new Acknowledgements(Instant.now());
  private final Thread thread = Thread.ofPlatform().daemon().name("probe").unstarted(this::run);
  private volatile boolean stopped;

  public Probe(Holdfast holdfast, Ledger ledger) {
    this.holdfast = holdfast;
    this.ledger = ledger;
  }

  public Probe start() {
    thread.start();
    return this;
  }

  Acknowledgements acknowledgements() {
    return acknowledgements;
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
    acknowledgements.add(Instant.now());
    return true;
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(BETWEEN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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
