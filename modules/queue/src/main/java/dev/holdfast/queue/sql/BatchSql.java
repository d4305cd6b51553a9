package dev.holdfast.queue.sql;

import dev.holdfast.queue.jdbc.Rows;

/**
 * Jobs in claims of a whole batch, {@code holdfast.claim}. Only first attempts are claimed like
 * this, and every verb that writes such a job raises its attempt: a job is in a batch for as long
 * as a claim names it and its attempt is 0.
 *
 * <p>A batch claim writes none of its jobs, so another claim cannot tell by their rows that they
 * are taken; it reads that in {@code holdfast.claim}. For this to be up to date, a batch claim has
 * its queue to itself, by an advisory lock that all other claims share, and every claim reads in a
 * statement that begins when it has the lock: the statement that waits for a lock has a snapshot
 * from before the wait.
 */
public final class BatchSql {
  private static final String PLANNED = "SELECT " + Rows.BY_INDEX + ",\n";

  private static final String LOCK = "(hashtext('holdfast.batch'), hashtext(%s))";

  /** In a stricter isolation the claim would have the snapshot of the statement that waited. */
  public static final String IS_READ_COMMITTED =
      "current_setting('transaction_isolation') = 'read committed'";

  private static final String READ_COMMITTED = IS_READ_COMMITTED + " AS read_committed;\n";

  private static final String SHARED = "pg_advisory_xact_lock_shared" + LOCK;

  private BatchSql() {}

  /**
   * A statement to be sent before one that claims from {@code :queue} row by row, see {@link
   * dev.holdfast.queue.jdbc.Sql.Call#listAfterLock}.
   */
  public static String lockForRows() {
    return PLANNED + SHARED.formatted(":queue") + ",\n" + READ_COMMITTED;
  }

  /** Sent before a batch claim, which fails when the lock is not free soon. */
  public static String lockForBatch() {
    return PLANNED
        + "set_config('lock_timeout', '100', true), pg_advisory_xact_lock"
        + LOCK.formatted(":queue")
        + ",\n"
        + READ_COMMITTED;
  }

  /**
   * No batch claim takes jobs of a queue until the transaction ends.
   *
   * @param queue an expression
   */
  public static String keepBatchesOut(String queue) {
    return SHARED.formatted(queue);
  }

  /**
   * Of a PENDING job of {@code :queue}: no claim has it in its batch, or it was requeued from
   * there.
   */
  public static String isInNoBatch(String job) {
    return """
        (%1$s.attempt > 0 OR %1$s.id NOT IN (
           SELECT unnest(c.job_ids) FROM holdfast.claim c WHERE c.queue = :queue))
        """
        .formatted(job)
        .strip();
  }

  /**
   * Of a job that a claim has in its batch: it is not materialized or finished yet. IS TRUE keeps
   * the planner from the index of finished jobs: where statistics say that nearly all are finished
   * it looks cheaper than to fetch the rows by their places.
   */
  public static String isNotMaterialized(String job) {
    return "%1$s.attempt = 0 AND (%1$s.finished_at IS NULL) IS TRUE".formatted(job);
  }
}
