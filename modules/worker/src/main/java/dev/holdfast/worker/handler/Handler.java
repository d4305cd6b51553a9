package dev.holdfast.worker.handler;

import org.jspecify.annotations.Nullable;

/**
 * Runs the jobs of a kind. What it returns is the job's result; what it throws fails the attempt.
 *
 * <p>An attempt may be repeated after a crash, so a handler is best idempotent, or settles in the
 * transaction of its own writes.
 */
@FunctionalInterface
public interface Handler<T> {
  @Nullable Object handle(T payload, JobContext context) throws Exception;

  /** Runs the jobs of a kind that have no payload, or one that it does not look at. */
  @FunctionalInterface
  interface WithoutPayload {
    @Nullable Object handle(JobContext context) throws Exception;
  }
}
