package dev.holdfast.queue.sql;

/**
 * The worker of an attempt, as it is shown. A pushed task is leased under the name of its queue,
 * which limits and claims go by, and the name of its worker is known once that has started it.
 */
public final class WorkerSql {
  private WorkerSql() {}

  /** Of a job; null while none holds it. */
  public static String ofJob(String job) {
    return "CASE WHEN %1$s.worker_id IS NOT NULL THEN coalesce(%1$s.started_by, %1$s.worker_id) END"
        .formatted(job);
  }

  /** Of an attempt that has ended. */
  public static String ofAttempt(String attempt) {
    return "coalesce(%1$s.started_by, %1$s.worker_id)".formatted(attempt);
  }
}
