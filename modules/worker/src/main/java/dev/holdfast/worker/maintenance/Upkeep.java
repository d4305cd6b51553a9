package dev.holdfast.worker.maintenance;

import dev.holdfast.model.attempt.Timings;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Loop;
import dev.holdfast.worker.source.Metrics;
import java.time.Duration;

/**
 * Keeps the queue in order where no worker does: takes back lost leases, ends what is out of time,
 * makes due what has waited. Any number of them may run, beside any number of workers.
 */
public final class Upkeep implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Loop loop;

  /**
   * Takes no lease back before one lease time has passed: workers that send heartbeats through the
   * process that opened this could not do so before.
   */
  public Upkeep(JobSource source, Timings timings, Metrics metrics) {
    Reaper reaper = new Reaper(source, timings, metrics, System::nanoTime).waitingFirst();
    this.loop =
        new Loop("upkeep", new ScheduleFiring(source, reaper::runOnce, System::nanoTime)::runOnce)
            .start();
  }

  @Override
  public void close() {
    loop.end();
    try {
      loop.awaitEnd(TIMEOUT);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
