package dev.holdfast.worker.attempt;

import dev.holdfast.model.attempt.Lease;
import dev.holdfast.model.attempt.LeasedJob;
import dev.holdfast.model.value.Codec;
import dev.holdfast.worker.artifact.Publisher;
import dev.holdfast.worker.config.WorkerOptions;
import dev.holdfast.worker.source.Metrics;
import dev.holdfast.worker.source.RetryingSource;
import java.util.function.Predicate;

/**
 * The parts of a worker that all its attempts share.
 *
 * @param handledElsewhere whether another worker may have a handler for a job whose kind has none
 *     here
 */
public record AttemptServices(
    WorkerOptions options,
    Codec codec,
    Outbox outbox,
    Publisher publisher,
    RetryingSource source,
    Metrics metrics,
    Predicate<LeasedJob> handledElsewhere) {

  /** Whether the handler's own transaction has settled the attempt; asks until it knows. */
  boolean hasSucceeded(Lease lease) {
    return source.ask(it -> it.succeeded(lease));
  }
}
