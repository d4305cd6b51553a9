package dev.holdfast.queue.sql;

import dev.holdfast.model.attempt.Timings;

/**
 * How long a handler may take to stop: the cancel grace period of the worker that holds the job,
 * which came with its claim. Not that of whoever cancels the job or sweeps the queue, because only
 * the worker knows how long its handlers need, and ends them by itself after the same time.
 */
public final class CancelGraceSql {
  private CancelGraceSql() {}

  /** An interval, of a job that runs. */
  public static String of(String job) {
    return "coalesce(%s.cancel_grace_ms, %d) * interval '1 millisecond'"
        .formatted(job, Timings.DEFAULT_CANCEL_GRACE.toMillis());
  }
}
