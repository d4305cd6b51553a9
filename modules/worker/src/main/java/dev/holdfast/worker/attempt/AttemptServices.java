package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.value.Codec;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.handler.JobListener;
import dev.holdfast.worker.source.JobSource;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.RetryingSource;
import java.time.Duration;
import java.util.List;

/** The parts of a worker that all its attempts share. */
public record AttemptServices(
    WorkerOptions options,
    Codec codec,
    RetryingSource source,
    Outbox outbox,
    Publisher publisher,
    Slots slots,
    HandlerThreads threads,
    Watchdog watchdog,
    Cleaner cleaner,
    AttemptLog log,
    Metrics metrics) {

  /**
   * @param slotFreed called when a slot is free that the claim loop waits for
   */
  public static AttemptServices of(
      JobSource source,
      WorkerOptions options,
      Codec codec,
      List<JobListener> listeners,
      Metrics metrics,
      Runnable slotFreed) {
    RetryingSource retrying = new RetryingSource(source);
    return new AttemptServices(
        options,
        codec,
        retrying,
        new Outbox(source),
        new Publisher(options.artifacts(), retrying),
        new Slots(options.concurrency(), slotFreed),
        new HandlerThreads(options.concurrency()),
        new Watchdog(options.timings(), metrics),
        new Cleaner(),
        new AttemptLog(options, metrics, listeners),
        metrics);
  }

  /** Whether the handler's own transaction has settled the attempt; asks until it knows. */
  boolean hasSucceeded(Lease lease) {
    return source.ask(it -> it.succeeded(lease));
  }

  /** Ends what attempts run on; what is still to be deleted may take this long. */
  public void close(Duration timeout) {
    watchdog.close();
    threads.close();
    outbox.close();
    cleaner.close(timeout);
  }
}
